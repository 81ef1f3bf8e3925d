import { connect } from 'surety';
import { createPool } from '../src/postgres/pool.ts';
import { alternate, row } from './measure.ts';
import type { Row } from './measure.ts';
import { startPeer } from './peer-client.ts';
import type { Peer } from './peer-client.ts';
import { until } from './stack.ts';
import type { BenchStack } from './stack.ts';

const ROUNDS = 25;

/** A decision is signalled; how long until the agent that waits for it runs? */
export async function approval(stack: BenchStack): Promise<readonly Row[]> {
  const pool = createPool(stack.databaseUrl, { max: 2 });
  const peer = await startPeer(stack);
  const gate = await connect({ databaseUrl: stack.databaseUrl, agent: 'bench' });
  // Who signals is not the question here; what the stack made for its API would refuse a bare word.
  await pool.query('delete from token');
  const failure = { success: false, error: { message: 'upstream exploded', status: 500 } };
  for (let i = 0; i < 3; i += 1) await gate.report({ tool: 'held', ...failure });
  await until(() => gate.check({ tool: 'held' }).decision === 'ask', 'the tool is held');
  let round = 0;
  const seen = await alternate(
    {
      ours: () => decided(peer, pool, gate, (round += 1)),
      bare: () => signalToResult(peer, (round += 1)),
    },
    ROUNDS,
  );
  await gate.close();
  await peer.stop();
  await pool.end();
  return [
    row('decision signalled → waiting agent continues / signal → result', 'ms', seen.ours, seen.bare, { atMost: 3 }),
  ];
}

async function decided(
  { client }: Peer,
  pool: ReturnType<typeof createPool>,
  gate: Awaited<ReturnType<typeof connect>>,
  round: number,
): Promise<number> {
  let ranAt = 0;
  const waiting = gate.guard('held', () => void (ranAt = performance.now()))({ round });
  let workflow = '';
  await until(async () => {
    const found = await pool.query<{ id: string }>(
      `select 'approval:' || identity || '/' || ordinal as id from approval
       where status = 'pending' and started_at is not null limit 1`,
    );
    workflow = found.rows[0]?.id ?? '';
    return workflow !== '';
  }, 'somebody was asked');
  const handle = client.workflow.getHandle(workflow);
  // It has shown its question and waits, as it would have for minutes.
  await handle.query('approval');
  const begin = performance.now();
  await handle.signal('approve', { by: 'ann' });
  await waiting;
  return ranAt - begin;
}

async function signalToResult({ client }: Peer, round: number): Promise<number> {
  const handle = await client.workflow.start('waiter', { taskQueue: 'bench-peer', workflowId: `waiter-${round}` });
  await handle.query('waits');
  const result = handle.result();
  const begin = performance.now();
  await handle.signal('poke', {});
  await result;
  return performance.now() - begin;
}
