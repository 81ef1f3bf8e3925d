import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toolKey } from '../../src/domain/key/tool-key.ts';
import { parseRules } from '../../src/domain/rules/parse-rules.ts';
import { outcomeId } from '../../src/postgres/outcome-id.ts';
import { createPool } from '../../src/postgres/pool.ts';
import { publishRules } from '../../src/postgres/rules.ts';
import { prepare } from '../../src/prepare.ts';
import type { Child } from '../../src/stack/child.ts';
import { prepareNamespace } from '../../src/temporal/namespace.ts';
import { eventually } from '../support/installation.ts';
import { withDatabase } from '../support/global-setup.ts';
import { startProxy } from './kills-proxy.ts';
import type { Proxy } from './kills-proxy.ts';
import { createRandom } from './kills-random.ts';
import { KEYS, RESET, RULES } from './kills-scene.ts';
import { createKillableStack, VICTIMS } from './kills-stack.ts';
import type { KillableStack, Victim } from './kills-stack.ts';
import { projected, simulated } from './kills-truth.ts';

const ROUNDS = 20;
const SEED = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000);
const rules = parseRules(RULES);

let stack: KillableStack;
let proxy: Proxy;
let pool: pg.Pool;
let connection: Connection;

beforeAll(async () => {
  stack = await createKillableStack();
  await Promise.all([stack.start('Postgres'), stack.start('Temporal')]);
  connection = await Connection.connect({ address: stack.temporal.address });
  await prepareNamespace(connection, stack.temporal, true);
  await prepare(stack.databaseUrl(), stack.temporal, false);
  pool = createPool(stack.databaseUrl());
  await publishRules(pool, rules, 'test');
  await stack.start('worker');
  proxy = await startProxy(stack.postgresPort);
});
afterAll(async () => {
  await pool.end();
  await connection.close();
  await proxy.close();
  await stack.stop();
});

test('whatever is killed, nothing acknowledged is lost, nothing counts twice, and every state follows from the ledger', async () => {
  console.log(`KILL_SEED=${SEED}`);
  const random = createRandom(SEED);
  const [sentFile, acknowledgedFile] = ['sent', 'acknowledged'].map((name) => join(stack.home.root, name)) as [
    string,
    string,
  ];
  let life = 0;
  const startClient = (): Promise<Child> => {
    life += 1;
    return stack.run('client', 'report-stream.ts', {
      DATABASE_URL: throughProxy(stack.databaseUrl(), proxy),
      LIFE: String(life),
      SEED: String(SEED * 1000 + life),
      SENT: sentFile,
      ACKNOWLEDGED: acknowledgedFile,
    });
  };

  let client = await startClient();
  const orders: { reason: string; acknowledged: boolean }[] = [];
  const giving: Promise<void>[] = [];
  const patience = new AbortController();
  const workflows = new Client({ connection }).workflow;
  const giveReset = (tool: string, reason: string): void => {
    const order = { reason, acknowledged: false };
    orders.push(order);
    const handle = workflows.getHandle(toolKey('local', tool));
    const update = connection.withAbortSignal(patience.signal, () =>
      handle.executeUpdate('reset', { args: [{ by: 'test', reason }] }),
    );
    giving.push(
      update.then(
        () => {
          order.acknowledged = true;
        },
        () => undefined,
      ),
    );
  };

  for (const [round, { victims, killsClient }] of plan(random).entries()) {
    const began = Date.now();
    await sleep(random.between(300, 1200));
    if (round % 3 === 2) giveReset(random.pick(RESET), `round ${round}`);
    // Somebody with the power to do so ends a workflow; the next bell starts another.
    if (round % 4 === 3)
      await workflows
        .getHandle(random.pick(KEYS))
        .terminate('kills')
        .catch(() => undefined);
    proxy.dropAcknowledgements(random.between(1, 3));
    await sleep(random.between(0, 300));
    const howMuch = random.pick(['whole', 'head'] as const);
    await Promise.all([
      ...victims.map((victim) => stack.kill(victim, howMuch)),
      ...(killsClient ? [stack.killProgram(client)] : []),
    ]);
    await sleep(random.pick([0, 200, 1000, 2200]));
    const servers = victims.filter((victim) => victim !== 'worker');
    if (killsClient) client = await startClient();
    await Promise.all(servers.map((victim) => stack.start(victim)));
    if (victims.includes('worker')) await stack.start('worker');
    expect(stack.surprises).toEqual([]);
    // Time to get somewhere before the next blow: a task that a killed worker held comes back after ten seconds.
    if (round % 5 === 4) await caughtUp().catch(() => undefined);
    console.log(
      `round ${round + 1}: ${victims.join(' + ')}${killsClient ? ' + client' : ''}, ${Date.now() - began} ms`,
    );
  }
  await sleep(1000);
  await stack.stopProgram(client);
  const impatience = setTimeout(() => patience.abort(), 20_000);
  await Promise.all(giving);
  clearTimeout(impatience);
  const waited = Date.now();
  const quietAt = await quiet();
  console.log(`quiet after ${Date.now() - waited} ms`);

  const sent = idsIn(sentFile);
  const acknowledged = idsIn(acknowledgedFile);
  const rows = await pool.query<{ id: string; kind: number; reason: string | null }>(
    `select id, kind, detail ->> 'reason' as reason from ledger`,
  );
  const inLedger = new Set(rows.rows.map(({ id }) => id));
  const outcomes = rows.rows.filter(({ kind }) => kind <= 2);
  console.log(
    `${sent.size} sent, ${acknowledged.size} acknowledged, ${outcomes.length} in the ledger, ` +
      `${proxy.dropped} acknowledgements dropped, ${orders.length} orders`,
  );

  expect([...acknowledged].filter((id) => !inLedger.has(id))).toEqual([]);
  expect(outcomes.filter(({ id }) => !sent.has(id))).toEqual([]);
  expect(rows.rows).toHaveLength(inLedger.size);
  for (const { reason, acknowledged } of orders) {
    const count = rows.rows.filter((row) => row.kind > 2 && row.reason === reason).length;
    expect([reason, count]).toEqual([reason, acknowledged ? 1 : Math.min(1, count)]);
  }
  expect(await miscounted()).toEqual([]);
  const truth = await simulated(pool, rules, quietAt);
  const shown = await projected(pool);
  console.log(truth.changes);
  expect(shown.doubts).toEqual(truth.doubts);
  expect(shown.changes).toEqual(truth.changes);
  expect(Object.keys(truth.changes)).toEqual(['blocked', 'escalated', 'recovered', 'recovering', 'relapsed', 'reset']);
  expect(proxy.dropped).toBeGreaterThan(5);
}, 240_000);

interface Round {
  readonly victims: readonly Victim[];
  readonly killsClient: boolean;
}

/** Every subset of the victims at least twice, in any order. */
function plan(random: ReturnType<typeof createRandom>): Round[] {
  const subsets = Array.from({ length: 7 }, (_, bits) => VICTIMS.filter((__, i) => ((bits + 1) >> i) & 1));
  const more = Array.from({ length: ROUNDS - 2 * subsets.length }, () => random.pick(subsets));
  return random
    .shuffle([...subsets, ...subsets, ...more])
    .map((victims) => ({ victims, killsClient: random.chance(0.3) }));
}

function throughProxy(databaseUrl: string, { port }: Proxy): string {
  const url = new URL(withDatabase(databaseUrl, 'surety'));
  url.port = String(port);
  return url.href;
}

function idsIn(file: string): Set<string> {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return new Set(lines.map((line) => outcomeId(...(JSON.parse(line) as [string, string, string]))));
}

/** When everything is applied and no deadline is near: from then on the answer is the same whenever one looks. */
async function quiet(): Promise<number> {
  return eventually(async () => {
    const found = await pool.query<{ now: number; busy: string[] | null }>(
      `select extract(epoch from clock_timestamp())::float8 * 1000 as now, (
         select array_agg(key || ' ' || ring_seq || ' > ' || applied_seq || ' due ' || coalesce(due_at::text, 'never')) from subject
         where ring_seq > applied_seq or due_at < clock_timestamp() + interval '3 seconds'
       ) as busy`,
    );
    expect(found.rows[0]?.busy ?? []).toEqual([]);
    return found.rows[0]?.now ?? 0;
  }, 90_000);
}

/** When everything is applied that was in the ledger when asked. */
async function caughtUp(): Promise<void> {
  const asked = await pool.query<{ id: number; ring_seq: number }>('select id, ring_seq from subject');
  await eventually(async () => {
    const behind = await pool.query(
      'select 1 from subject s join unnest($1::bigint[], $2::bigint[]) as a (id, seq) using (id) where applied_seq < a.seq',
      [asked.rows.map(({ id }) => id), asked.rows.map(({ ring_seq }) => ring_seq)],
    );
    expect(behind.rowCount).toBe(0);
  }, 12_000);
}

/** Subjects whose counters are not the number of their rows. */
async function miscounted(): Promise<unknown[]> {
  const found = await pool.query<Record<string, unknown>>(
    `select s.key, s.outcomes, s.failures, s.seq, r.outcomes as rows, r.failures as failed, r.seq as newest
     from subject s left join lateral (
       select count(*) as outcomes, count(*) filter (where kind = 1) as failures,
         coalesce(max(case when s.kind = 'server' then l.server_seq else l.seq end), 0) as seq
       from ledger l where case when s.kind = 'server' then l.server_subject else l.subject end = s.id
     ) r on true
     where (s.outcomes, s.failures, s.seq) is distinct from (r.outcomes, r.failures, r.seq)`,
  );
  return found.rows;
}
