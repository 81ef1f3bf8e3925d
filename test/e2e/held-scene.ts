import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { connect } from '../../src/gate/index.ts';
import { newOutcomeId } from '../../src/postgres/outcome-id.ts';
import type { Child } from '../../src/stack/child.ts';
import { eventually } from '../support/installation.ts';
import type { KillableStack } from './kills-stack.ts';

/** An agent in a process of its own. */
export interface HeldAgent {
  readonly child: Child;
  /** What its tool has left behind, and that of every agent with the same tool. */
  readonly ran: () => string[];
  readonly lastWord: () => Promise<string | undefined>;
}

/** Tools that are held, and agents in processes of their own that call them. */
export function createHeldScene(stack: KillableStack) {
  const folder = mkdtempSync(join(tmpdir(), 'surety-held-'));
  return {
    async escalated(tool: string): Promise<void> {
      const databaseUrl = stack.databaseUrl();
      const [reporter, other] = [await connect({ databaseUrl }), await connect({ databaseUrl })];
      const failure = { tool, success: false, severity: 'server_error', error: 'x' } as const;
      for (let i = 0; i < 3; i += 1) await reporter.report(failure);
      // Whoever reports tightens their own view at once. Agents are other processes: they learn it once it is projected.
      await eventually(() => expect(other.check({ tool }).decision).toBe('ask'), 60_000);
      await reporter.close();
      await other.close();
    },
    /** `environment` says how it speaks with the ledger, and what it does. */
    async agent(tool: string, environment: Record<string, string>): Promise<HeldAgent> {
      const LOG = join(folder, `${tool}.jsonl`);
      writeFileSync(LOG, '', { flag: 'a' });
      const child = await stack.run(`agent-${newOutcomeId()}`, 'held-agent.mjs', { LOG, TOOL: tool, ...environment });
      return {
        child,
        ran: () => readFileSync(LOG, 'utf8').split('\n').filter(Boolean),
        lastWord: async () => (await child.lastLogLines()).at(-1),
      };
    },
    /** A file that is not there yet, for agents that wait for it. */
    starter(tool: string): { readonly GO: string; readonly go: () => void } {
      const GO = join(folder, `${tool}.go`);
      return { GO, go: () => writeFileSync(GO, '') };
    },
  };
}

export type HeldScene = ReturnType<typeof createHeldScene>;
