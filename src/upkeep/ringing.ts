import type { Client } from '@temporalio/client';
import type pg from 'pg';
import { nameOf } from '../domain/trust/describe.ts';
import type { Bell } from '../postgres/ring.ts';
import { returnBells, takeBells } from '../postgres/ring.ts';
import { reasonOf } from '../problem.ts';
import { currentRules } from '../postgres/rules.ts';
import { keyword, SuretyServer, SuretyState, SuretyTool } from '../temporal/search-attributes.ts';
import { ledgerAdvanced } from '../../workflows/messages.ts';
import { setBackIfStuck } from './stuck.ts';

const AT_ONCE = 20;
const IN_ONE_ROUND = 200;

export interface Ringing {
  readonly pool: pg.Pool;
  readonly client: Client;
  readonly taskQueue: string;
}

/** Rings every bell that is due; answers how many, so that a full round is followed by another at once. */
export async function ringBells(
  ringing: Ringing,
  log: (message: string) => void,
): Promise<{ rung: number; more: boolean }> {
  const { version } = await currentRules(ringing.pool);
  const bells = await takeBells(ringing.pool, IN_ONE_ROUND, version);
  const failed: { bell: Bell; error: unknown }[] = [];
  const waiting = [...bells];
  const ringNext = async () => {
    for (let bell = waiting.pop(); bell !== undefined; bell = waiting.pop()) {
      try {
        if (bell.again) await help(ringing, bell, log);
        await ring(ringing, bell);
      } catch (error) {
        failed.push({ bell, error });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ringNext));
  if (failed[0] !== undefined) {
    await returnBells(
      ringing.pool,
      failed.map(({ bell }) => bell.id),
    );
    throw failed[0].error;
  }
  return { rung: bells.length, more: bells.length === IN_ONE_ROUND };
}

/** Whoever may not help rings all the same. */
async function help({ client }: Ringing, { key }: Bell, log: (message: string) => void): Promise<void> {
  try {
    if (await setBackIfStuck(client, key)) log(`${key} could not go on, and was set back: it reads the ledger again`);
  } catch (error) {
    log(`${key} has not answered, and could not be looked at: ${reasonOf(error)}`);
  }
}

/** The workflow may not exist yet, or may have been terminated by a person: either way it is there afterwards. */
async function ring({ client, taskQueue }: Ringing, { key, kind, server, name }: Bell): Promise<void> {
  await client.workflow.signalWithStart('toolTrust', {
    workflowId: key,
    taskQueue,
    args: [{ kind, server, name }],
    signal: ledgerAdvanced,
    signalArgs: [],
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: `trust of ${nameOf({ kind, server, name })}`.slice(0, 200),
    memo: { subject: nameOf({ kind, server, name }).slice(0, 200) },
    typedSearchAttributes: [
      { key: SuretyTool, value: keyword(nameOf({ kind, server, name })) },
      { key: SuretyServer, value: keyword(server) },
      { key: SuretyState, value: 'TRUSTED' },
    ],
  });
}
