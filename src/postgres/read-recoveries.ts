import type pg from 'pg';
import { nameOf } from '../domain/trust/describe.ts';
import { ruleOfPart, scopeOfPart } from '../domain/trust/parts.ts';
import { pendingRecovery } from '../domain/trust/transition.ts';
import { viewForServer, viewForTool } from '../domain/rules/resolve.ts';
import { currentRules } from './rules.ts';
import { readInDoubt } from './snapshot.ts';

/** A part that would recover by itself if the rule let it. */
export interface PendingRecovery {
  readonly key: string;
  readonly name: string;
  readonly part: string;
  readonly reason: string;
  /** When the cooldown was over. */
  readonly since: number;
}

/** With auto-recovery off, what has cooled down waits for a person like a question does. */
export async function readPendingRecoveries(pool: pg.Pool, now: number): Promise<readonly PendingRecovery[]> {
  const [inDoubt, { rules, version }] = await Promise.all([readInDoubt(pool), currentRules(pool)]);
  return inDoubt.flatMap((standing) => {
    const { server, name, kind } = standing;
    const view = kind === 'server' ? viewForServer(rules, version, server) : viewForTool(rules, version, server, name);
    return Object.entries(standing.parts).flatMap(([part, state]) => {
      const since = pendingRecovery(state, ruleOfPart(standing, view, part));
      if (since === undefined || since > now) return [];
      const reason = state.status === 'ESCALATED' ? state.reason : '';
      return [{ key: standing.key, name: nameOf(standing), part: scopeOfPart(part), reason, since }];
    });
  });
}
