import type pg from 'pg';
import { serverKey, toolKey } from '../domain/key/tool-key.ts';
import { WHOLE } from '../domain/trust/parts.ts';
import type { Status } from '../domain/trust/trust.ts';
import type { Call, Decision, Gate, Report } from '../gate/index.ts';
import { pause } from '../pause.ts';
import { readSubjects } from '../postgres/read-subjects.ts';
import type { KnownSubject } from '../postgres/read-subjects.ts';
import { Problem } from '../problem.ts';
import type { StackFile } from '../stack/stack-file.ts';
import type { Cli } from './cli.ts';
import { giveOrder, untilApplied } from './order.ts';
import { plain, wrap } from './text.ts';

const DEMO_SERVERS = ['demo', 'demo-atlassian', 'demo-github'] as const;
const APPLIED_WITHIN_MS = 15_000;
const TOLD_WITHIN_MS = 5000;

export interface DemoTool {
  readonly server: string;
  readonly tool: string;
}

/** What a story is played on: it tells, reports, waits for what the workflows make of it, and links to them. */
export function createStage(
  { terminal }: Cli,
  { pool, gate, stack, by }: { pool: pg.Pool; gate: Gate; stack: StackFile | undefined; by: string },
) {
  const print = (text: string, indent: string) => {
    for (const line of wrap(text, terminal.width - indent.length)) terminal.print(`${indent}${line}`);
  };

  async function applied(key: string): Promise<KnownSubject> {
    for (const deadline = Date.now() + APPLIED_WITHIN_MS; Date.now() < deadline;) {
      const [subject] = await readSubjects(pool, { keys: [key] });
      if (subject?.unapplied === 0) return subject;
      await pause(30);
    }
    throw new Problem(
      `The workflow ${key} has not applied what was reported within ${APPLIED_WITHIN_MS / 1000} s.`,
      'Is a worker running? `surety doctor` looks at every part.',
    );
  }

  return {
    title: (text: string) => {
      terminal.print();
      terminal.print(terminal.paint('bold', text));
    },
    say: (text: string) => print(text, '  '),
    /** What Surety did, as opposed to what the story says. */
    saw: (text: string) => {
      for (const line of wrap(plain(text), terminal.width - 4))
        terminal.print(`  ${terminal.paint('cyan', `│ ${line}`)}`);
    },
    link: (key: string) => {
      if (stack?.uiUrl === undefined) return;
      const path = `/namespaces/${stack.namespace}/workflows/${encodeURIComponent(key)}`;
      terminal.print(`  ${terminal.paint('dim', `${stack.uiUrl}${path}`)}`);
    },
    report: (report: Report) => gate.report(report),
    /** The state of a tool's part, or of a server, once its workflow has applied every report so far. */
    stateOf: async ({ server, tool }: { server: string; tool?: string }, part = WHOLE): Promise<Status> => {
      const { parts } = await applied(keyOf(server, tool));
      return parts[part]?.status ?? 'TRUSTED';
    },
    /** The gate's answer, once it is what it should be; whatever it is after a few seconds. */
    check: async (call: Call, isExpected: (decision: Decision) => boolean): Promise<Decision> => {
      const deadline = Date.now() + TOLD_WITHIN_MS;
      for (;;) {
        const decision = gate.check(call);
        if (isExpected(decision) || Date.now() > deadline) return decision;
        await pause(30);
      }
    },
    guarded: ({ server, tool }: DemoTool) => gate.guard({ server, name: tool }, () => ({ status: 200 })),
    order: async (order: 'reset' | 'recover', { server, tool }: { server: string; tool?: string }, reason: string) => {
      const subjects = await readSubjects(pool, { keys: [keyOf(server, tool)] });
      await untilApplied(pool, await giveOrder(pool, { order, subjects, by, reason }));
    },
    /** Leaves every demo tool trusted, whatever a story, or one that was interrupted, has done to it. */
    clear: async (): Promise<void> => {
      const patterns = DEMO_SERVERS.flatMap((server) => [`${server}/*`, `server:${server}`]);
      const found = await Promise.all(patterns.map((pattern) => readSubjects(pool, { pattern })));
      const subjects = found.flat();
      if (subjects.length === 0) return;
      await untilApplied(pool, await giveOrder(pool, { order: 'reset', subjects, by, reason: 'demo' }));
    },
  };
}

export type Stage = ReturnType<typeof createStage>;

/** Of a tool, or of a server where no tool is named; also the id of its workflow. */
export function keyOf(server: string, tool?: string): string {
  return tool === undefined ? serverKey(server) : toolKey(server, tool);
}
