import { setMaxListeners } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { toolKey } from '../../src/domain/key/tool-key.ts';
import { parseRules } from '../../src/domain/rules/parse-rules.ts';
import { connect } from '../../src/gate/index.ts';
import { lowestIdAt, outcomeId } from '../../src/postgres/outcome-id.ts';
import { createPartitions } from '../../src/postgres/partitions.ts';
import { createPool } from '../../src/postgres/pool.ts';
import { publishRules } from '../../src/postgres/rules.ts';
import { prepare } from '../../src/prepare.ts';
import type { Child } from '../../src/stack/child.ts';
import { prepareNamespace } from '../../src/temporal/namespace.ts';
import { eventually } from '../support/installation.ts';
import { startProxy } from './kills-proxy.ts';
import type { Proxy } from './kills-proxy.ts';
import { createRandom } from './kills-random.ts';
import type { Random } from './kills-random.ts';
import { KEYS, RESET, RULES } from './kills-scene.ts';
import { createKillableStack, VICTIMS } from './kills-stack.ts';
import type { KillableStack, Victim } from './kills-stack.ts';
import { counted, projected, recordOf, simulated } from './kills-truth.ts';

const ROUNDS = 20;
/** Repeats a run as far as a run that kills can be repeated: the same victims in the same order, the same reports. */
const SEED = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000);
const rules = parseRules(RULES);

let stack: KillableStack;
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
});
afterAll(async () => {
  await pool.end();
  await connection.close();
  await stack.stop();
});

// Never tried twice: what went wrong once has gone wrong.
test(
  'whatever is killed, what was acknowledged is in the ledger once, and every state follows from the ledger',
  {
    retry: 0,
    timeout: 600_000,
  },
  async () => {
    console.log(`KILL_SEED=${SEED}`);
    const random = createRandom(SEED);
    const proxy = await proxied();
    const clients = createClients(proxy);
    const operator = createOperator();
    let client = await clients.start();
    for (const [round, { victims, killsClient }] of plan(random).entries()) {
      const began = Date.now();
      await sleep(random.between(200, 1000));
      if (round % 3 === 2) operator.reset(random.pick(RESET), `round ${round + 1}`);
      if (round % 4 === 3) await operator.terminate(random.pick(KEYS));
      proxy.dropAcknowledgements(random.between(1, 3));
      await sleep(random.between(0, 300));
      const howMuch = random.pick(['whole', 'head'] as const);
      await Promise.all([
        ...victims.map((victim) => stack.kill(victim, howMuch)),
        ...(killsClient ? [stack.killProgram(client)] : []),
      ]);
      await sleep(random.pick([0, 200, 1000, 2000]));
      if (killsClient) client = await clients.start();
      await Promise.all(victims.filter((victim) => victim !== 'worker').map((victim) => stack.start(victim)));
      if (victims.includes('worker')) await stack.start('worker');
      expect(stack.surprises).toEqual([]);
      // A task that a killed worker held comes back after ten seconds: now and then there must be time to get that far.
      if (round % 7 === 6) await eventually(caughtUp, 12_000).catch(() => undefined);
      const names = [...victims, ...(killsClient ? ['client'] : [])];
      console.log(`round ${round + 1}: ${names.join(' + ')} (${Date.now() - began} ms)`);
    }
    await clients.atWork();
    await stack.stopProgram(client);
    expect(stack.surprises).toEqual([]);
    const orders = await operator.done();
    const shown = await eventually(() => projected(pool), 60_000);

    const rows = await pool.query<{ id: string; kind: number; reason: string | null }>(
      `select id, kind, detail ->> 'reason' as reason from ledger`,
    );
    const inLedger = new Set(rows.rows.map(({ id }) => id));
    const { sent, acknowledged } = clients.ids();
    const truth = await simulated(pool, rules, shown.now);
    console.log(
      `${sent.size} sent, ${acknowledged.size} acknowledged, ${inLedger.size} in the ledger, ` +
        `${proxy.dropped} acknowledgements dropped, changes ${JSON.stringify(counted(truth))}`,
    );
    expect([...acknowledged].filter((id) => !inLedger.has(id))).toEqual([]);
    expect(rows.rows.filter(({ id, kind }) => kind <= LAST_OUTCOME && !sent.has(id))).toEqual([]);
    expect(rows.rows).toHaveLength(inLedger.size);
    for (const { reason, given } of orders) {
      const recorded = rows.rows.filter((row) => row.reason === reason).length;
      expect({ reason, recorded }).toEqual({ reason, recorded: given ? 1 : Math.min(recorded, 1) });
    }
    expect(await miscounted()).toEqual([]);
    expect(shown.doubts, await recordOf(pool, shown, truth)).toEqual(truth.doubts);
    expect(shown.changes).toEqual(truth.changes);
    // What the run is worth: every change was seen, and acknowledgements did get lost.
    expect(Object.keys(counted(truth))).toEqual([
      'blocked',
      'escalated',
      'recovered',
      'recovering',
      'relapsed',
      'reset',
    ]);
    expect(proxy.dropped).toBeGreaterThan(ROUNDS / 2);
  },
);

const WEEK_MS = 7 * 86_400_000;

test('a report whose acknowledgement was lost, sent again when the ledger is in its next partition, is the same report', async () => {
  const proxy = await proxied();
  const gate = await connect({ databaseUrl: proxy.url, agent: 'late' });
  const other = await connect({ databaseUrl: stack.databaseUrl(), agent: 'other' });
  onTestFinished(async () => {
    await Promise.all([gate.close(), other.close()]);
  });
  const border = (Math.floor(Date.now() / WEEK_MS) + 1) * WEEK_MS;
  const [lastOfWeek, firstOfNext, farAhead] = [border - 1, border, border + 6 * WEEK_MS].map(idAt);
  const broken = { tool: 'resent', result: { error: 'it exploded', http_status: 500 } };
  proxy.dropAcknowledgementAndHold();
  let acknowledged = 0;
  const reports = [lastOfWeek, farAhead].map((callId = '') =>
    gate.report({ ...broken, callId }).then(() => void (acknowledged += 1)),
  );
  await eventually(() => expect(proxy.dropped).toBe(1));
  expect(await placesOf([lastOfWeek, farAhead])).toEqual([partition(border - 1), 'ledger_stray']);

  await createPartitions(pool, border + 6 * WEEK_MS);
  await other.report({ tool: 'other', callId: firstOfNext ?? '', result: {} });
  expect(await placesOf([lastOfWeek, firstOfNext, farAhead])).toEqual(
    [border - 1, border, border + 6 * WEEK_MS].map(partition),
  );
  expect(acknowledged).toBe(0);
  proxy.release();
  await Promise.all(reports);

  expect(await placesOf([lastOfWeek, farAhead])).toEqual([border - 1, border + 6 * WEEK_MS].map(partition));
  expect(await miscounted()).toEqual([]);
  // Two failures are below the threshold of three; counted twice they would not be.
  const shown = await eventually(() => projected(pool), 60_000);
  expect(Object.keys(shown.doubts).filter((key) => key.includes('resent'))).toEqual([]);
});

const LAST_OUTCOME = 2;

interface Round {
  readonly victims: readonly Victim[];
  readonly killsClient: boolean;
}

/** Every set of victims at least twice, in any order; the client dies in a third of the rounds. */
function plan(random: Random): Round[] {
  const subsets = Array.from({ length: 7 }, (_, bits) => VICTIMS.filter((__, i) => ((bits + 1) >> i) % 2 === 1));
  const more = Array.from({ length: ROUNDS - 2 * subsets.length }, () => random.pick(subsets));
  return random
    .shuffle([...subsets, ...subsets, ...more])
    .map((victims) => ({ victims, killsClient: random.chance(0.33) }));
}

async function proxied(): Promise<Proxy & { readonly url: string }> {
  const proxy = await startProxy(stack.postgresPort);
  onTestFinished(() => proxy.close());
  const url = new URL(stack.databaseUrl());
  url.port = String(proxy.port);
  return Object.assign(proxy, { url: url.href });
}

/** The client, one life after the other, and what it noted in all of them. */
function createClients({ url }: { readonly url: string }) {
  const [sent, acknowledged] = [join(stack.home.root, 'sent'), join(stack.home.root, 'acknowledged')];
  let [life, before] = [0, 0];
  const sizeOf = (file: string) => (existsSync(file) ? statSync(file).size : 0);
  const idsIn = (file: string) => {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return new Set(lines.map((line) => outcomeId(...(JSON.parse(line) as [string, string, string, string]))));
  };
  return {
    start: (): Promise<Child> => {
      life += 1;
      before = sizeOf(sent);
      const seed = String(SEED * 1000 + life);
      const files = { SENT: sent, ACKNOWLEDGED: acknowledged };
      return stack.run('client', 'report-stream.ts', { DATABASE_URL: url, LIFE: String(life), SEED: seed, ...files });
    },
    /** The latest has come up and reports: told to stop before that, it would not know what was meant. */
    atWork: () => eventually(() => expect(sizeOf(sent)).toBeGreaterThan(before), 60_000),
    ids: () => ({ sent: idsIn(sent), acknowledged: idsIn(acknowledged) }),
  };
}

/** Somebody who resets tools and ends workflows while all this goes on. Orders may fail; none may be lost that did not. */
function createOperator() {
  const { workflow } = new Client({ connection });
  const patience = new AbortController();
  setMaxListeners(0, patience.signal);
  const orders: { readonly reason: string; given: boolean }[] = [];
  const giving: Promise<void>[] = [];
  return {
    reset(tool: string, reason: string): void {
      const order = { reason, given: false };
      orders.push(order);
      const update = () => workflow.getHandle(toolKey('local', tool)).executeUpdate('reset', { args: [{ reason }] });
      const given = connection.withAbortSignal(patience.signal, update);
      giving.push(given.then(() => void (order.given = true)).catch(() => undefined));
    },
    /** Whoever has the power may end a workflow. The next bell starts another, which takes up where the projection ends. */
    terminate: (key: string) =>
      workflow
        .getHandle(key)
        .terminate('test')
        .catch(() => undefined),
    async done() {
      const impatience = setTimeout(() => patience.abort(), 20_000);
      await Promise.all(giving);
      clearTimeout(impatience);
      return orders;
    },
  };
}

/** Whether everything is applied that rang a while ago. */
async function caughtUp(): Promise<void> {
  const behind = await pool.query(
    `select key from subject s where ring_seq > applied_seq and exists (
       select 1 from ledger l where l.seq > s.applied_seq and l.received_at < clock_timestamp() - interval '3 seconds'
         and case when s.kind = 'server' then l.server_subject else l.subject end = s.id)`,
  );
  expect(behind.rows).toEqual([]);
}

/** Subjects whose counters are not the number of their rows. */
async function miscounted(): Promise<unknown[]> {
  const found = await pool.query<Record<string, unknown>>(
    `select s.key, s.outcomes, s.failures, s.seq, r.rows, r.failed, r.newest from subject s join lateral (
       select count(*) as rows, count(*) filter (where kind <= 2) as reported, count(*) filter (where kind = 1) as failed, coalesce(max(place), 0) as newest,
         count(distinct place) as places
       from (
         select kind, case when s.kind = 'server' then server_seq else seq end as place from ledger
         where case when s.kind = 'server' then server_subject else subject end = s.id
       ) l
     ) r on true
     where (s.outcomes, s.failures, s.seq, r.places) is distinct from (r.reported, r.failed, r.newest, r.rows)`,
  );
  return found.rows;
}

/** A UUIDv7 of a moment. */
function idAt(epochMs: number): string {
  return lowestIdAt(epochMs).replace(/-0000-0000-0{12}$/, '-7abc-8def-0123456789ab');
}

function partition(epochMs: number): string {
  return `ledger_w${Math.floor(epochMs / WEEK_MS)}`;
}

async function placesOf(ids: readonly (string | undefined)[]): Promise<string[]> {
  const found = await pool.query<{ place: string }>(
    'select tableoid::regclass::text as place from ledger where id = any($1) order by id',
    [ids],
  );
  return found.rows.map(({ place }) => place);
}
