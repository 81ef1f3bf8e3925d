import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as z from 'zod';
import { codeFile, isSource } from '../package-files.ts';
import type { Child } from './child.ts';

const ProcessRef = z.object({ pid: z.number(), startedAt: z.string() });
const StopStep = z.object({
  signal: z.custom<NodeJS.Signals>((value) => typeof value === 'string'),
  waitMs: z.number(),
});

/** One line on the guard's standard input. */
export const GuardOrder = z.discriminatedUnion('order', [
  z.object({ order: z.literal('watch'), process: ProcessRef, stop: z.array(StopStep) }),
  z.object({ order: z.literal('forget'), pid: z.number() }),
]);
export type GuardOrder = z.infer<typeof GuardOrder>;

export interface Guard {
  watch(child: Child): void;
  /** Once a child has ended by itself: its number may soon belong to somebody else. */
  forget(child: Child): void;
  /** Lets the guard end whatever is still watched, and waits for it. */
  close(): Promise<void>;
}

/** Starts the process that ends our children should we be killed. */
export function startGuard(): Guard {
  const guard = spawn(process.execPath, guardArguments(), {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
    cwd: '/',
    detached: true,
  });
  // Should somebody kill the guard, or it not start, we go on: the next start finds what it would have ended.
  const exited = once(guard, 'exit').catch(() => undefined);
  guard.stdin.on('error', () => undefined);
  const tell = (order: GuardOrder) => guard.stdin.write(`${JSON.stringify(order)}\n`);
  return {
    watch: (child) => tell({ order: 'watch', process: child.process, stop: [...child.stopSteps] }),
    forget: (child) => tell({ order: 'forget', pid: child.process.pid }),
    close: async () => {
      guard.stdin.end();
      await exited;
    },
  };
}

/** From a built package Node runs the guard as it is; from source it needs the loader that runs us, by its own name. */
function guardArguments(): string[] {
  if (!isSource) return [fileURLToPath(codeFile('src/stack/guard.js'))];
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return ['--import', loader, fileURLToPath(codeFile('src/stack/guard.ts'))];
}
