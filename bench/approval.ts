import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { connect } from 'surety';
import { parseRules } from '../src/domain/rules/parse-rules.ts';
import { createPool } from '../src/postgres/pool.ts';
import { publishRules } from '../src/postgres/rules.ts';
import { alternate, row } from './measure.ts';
import type { Row } from './measure.ts';
import { startPeer } from './peer-client.ts';
import type { Peer } from './peer-client.ts';
import { until } from './stack.ts';
import type { BenchStack } from './stack.ts';

const ROUNDS = 25;

/**
 * A decision is signalled; how long until the agent that waits for it runs? And how long where a person decides as people do:
 * with a token, over HTTP, from the request to the running call?
 */
export async function approval(stack: BenchStack): Promise<readonly Row[]> {
  const pool = createPool(stack.databaseUrl, { max: 2 });
  const peer = await startPeer(stack);
  const gate = await connect({ databaseUrl: stack.databaseUrl, agent: 'bench' });
  const token = (await readFile(join(stack.home, 'admin-token'), 'utf8')).trim();
  const person = { url: `http://127.0.0.1:${stack.env['SURETY_HTTP_PORT'] ?? ''}`, token };
  // Who signals is not the question here; a bare word is refused where the rule does not say otherwise.
  await publishRules(pool, parseRules({ defaultRule: { approval: { unverified: true } } }), 'bench');
  const failure = { success: false, error: { message: 'upstream exploded', status: 500 } };
  for (let i = 0; i < 3; i += 1) await gate.report({ tool: 'held', ...failure });
  await until(() => gate.check({ tool: 'held' }).decision === 'ask', 'the tool is held');
  let round = 0;
  const seen = await alternate(
    {
      ours: () => decided(peer, pool, gate, (round += 1), ({ workflow }) => workflow.signal('approve', { by: 'ann' })),
      overHttp: () => decided(peer, pool, gate, (round += 1), ({ id }) => approveOverHttp(person, id)),
      bare: () => signalToResult(peer, (round += 1)),
    },
    ROUNDS,
  );
  await gate.close();
  await peer.stop();
  await pool.end();
  return [
    row('decision signalled → waiting agent continues / signal → result', 'ms', seen.ours, seen.bare, { atMost: 3 }),
    row(
      'decision sent over HTTP with a token → waiting agent continues / signal → result',
      'ms',
      seen.overHttp,
      seen.bare,
    ),
  ];
}

async function decided(
  { client }: Peer,
  pool: ReturnType<typeof createPool>,
  gate: Awaited<ReturnType<typeof connect>>,
  round: number,
  approve: (question: { readonly id: string; readonly workflow: WorkflowHandle }) => Promise<unknown>,
): Promise<number> {
  let ranAt = 0;
  const waiting = gate.guard('held', () => void (ranAt = performance.now()))({ round });
  let asked = { id: '', workflow: '' };
  await until(async () => {
    const found = await pool.query<typeof asked>(
      `select id, 'approval:' || identity || '/' || ordinal as workflow from approval
       where status = 'pending' and started_at is not null limit 1`,
    );
    asked = found.rows[0] ?? asked;
    return asked.id !== '';
  }, 'somebody was asked');
  const workflow = client.workflow.getHandle(asked.workflow);
  // It has shown its question and waits, as it would have for minutes.
  await workflow.query('approval');
  const begin = performance.now();
  await approve({ id: asked.id, workflow });
  await waiting;
  return ranAt - begin;
}

async function approveOverHttp({ url, token }: { url: string; token: string }, id: string): Promise<void> {
  const response = await fetch(`${url}/v1/approvals/${id}/approve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
  });
  if (!response.ok) throw new Error(`approving answered ${response.status}: ${await response.text()}`);
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
