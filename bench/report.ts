import { connect } from 'surety';
import type { Gate } from 'surety';
import { createPool } from '../src/postgres/pool.ts';
import { parseRules } from '../src/domain/rules/parse-rules.ts';
import { Subjects } from '../src/postgres/intern.ts';
import { record } from '../src/postgres/record.ts';
import type { LedgerRow } from '../src/postgres/record.ts';
import { newOutcomeId } from '../src/postgres/outcome-id.ts';
import { publishRules } from '../src/postgres/rules.ts';
import { alternate, row } from './measure.ts';
import type { Row } from './measure.ts';
import { signalsPerSecond, startPeer } from './peer-client.ts';
import type { Peer } from './peer-client.ts';
import { untilApplied } from './stack.ts';
import type { BenchStack } from './stack.ts';

const OUTCOMES = 60_000;
const SIGNALS = 600;
const ON_THEIR_WAY = 8000;

/** Outcomes acknowledged per second beside bare signals per second, and what they cost in histories. */
export async function report(stack: BenchStack): Promise<readonly Row[]> {
  const pool = createPool(stack.databaseUrl, { max: 2 });
  // One call in twenty fails, and that is how these tools are: healthy, their failures counted and rung for.
  await publishRules(pool, parseRules({ defaultRule: { rateThreshold: 0.5, minSamples: 1000 } }), 'bench');
  const peer = await startPeer(stack);
  const gate = await connect({ databaseUrl: stack.databaseUrl, agent: 'bench' });
  let rounds = 0;
  const seen = await alternate(
    {
      hot: () => outcomesPerSecond(gate, pool, { tools: 1, failing: 20 }),
      spread: () => outcomesPerSecond(gate, pool, { tools: 200, failing: 20 }),
      unjudged: () => outcomesPerSecond(gate, pool, { tools: 200, failing: Infinity }),
      insert: () => bareInsertsPerSecond(pool),
      statement: () => statementsPerSecond(pool),
      bare: async () => signalsPerSecond(await peer.start(`bare-${(rounds += 1)}`), SIGNALS),
    },
    5,
  );
  const recorded = await pool.query<{ rows: number; calls: number }>(
    "select count(*) as rows, count(distinct detail ->> 'callId') as calls from ledger",
  );
  const sent = OUTCOMES * 3 * 5;
  const rows = recorded.rows[0]?.rows ?? 0;
  const costs = [
    ...(await historyCost(peer, pool, gate, 'hot tool', 'cost-hot', { outcomes: 20_000, tools: 1, failing: 20 }, 30)),
    ...(await historyCost(
      peer,
      pool,
      gate,
      '200 tools',
      'cost-many',
      { outcomes: 40_000, tools: 200, failing: 20 },
      30,
    )),
    ...(await trickle(peer, pool, gate, 'successes', 0)),
    ...(await trickle(peer, pool, gate, 'failures', 6)),
  ];
  await gate.close();
  await peer.stop();
  await pool.end();
  return [
    row('outcomes acknowledged / bare signals, 1 hot tool', 'per s', seen.hot, seen.bare, { atLeast: 100 }),
    row('outcomes acknowledged / bare signals, 200 tools', 'per s', seen.spread, seen.bare, { atLeast: 100 }),
    row('outcomes acknowledged / bare signals, 200 tools, none fails', 'per s', seen.unjudged, seen.bare),
    row('rows that a bare insert takes / bare signals', 'per s', seen.insert, seen.bare),
    row('rows that the ledger’s statement takes / bare signals', 'per s', seen.statement, seen.bare),
    row(
      'acknowledged outcomes found in the ledger / sent',
      'rows',
      [rows],
      [sent],
      rows === sent ? null : { atLeast: 2 },
    ),
    ...costs,
  ];
}

interface Traffic {
  readonly outcomes: number;
  readonly tools: number;
  /** Every so many-th call fails. */
  readonly failing: number;
}

async function outcomesPerSecond(
  gate: Gate,
  pool: ReturnType<typeof createPool>,
  { tools, failing }: Omit<Traffic, 'outcomes'>,
): Promise<number> {
  const begin = performance.now();
  await send(gate, `speed-${failing}`, { outcomes: OUTCOMES, tools, failing });
  const perSecond = OUTCOMES / ((performance.now() - begin) / 1000);
  // What is still to be judged must not fall on whoever is measured next.
  await untilApplied(pool);
  return perSecond;
}

/** What the database could take at the most: such rows with their key and nothing else, ready made, from one connection. */
async function bareInsertsPerSecond(pool: ReturnType<typeof createPool>): Promise<number> {
  await pool.query('create table if not exists bare (like ledger including defaults, primary key (id))');
  const batches = Array.from({ length: 15 }, () => Array.from({ length: 4000 }, () => newOutcomeId()));
  const text = `insert into bare (id, subject, seq, kind, at, received_at)
    select id, 1, row_number() over (), 0, now(), now() from unnest($1::uuid[]) id on conflict (id) do nothing`;
  const begin = performance.now();
  for (const ids of batches) await pool.query({ name: 'bare', text, values: [`{${ids.join()}}`] });
  const perSecond = 60_000 / ((performance.now() - begin) / 1000);
  await pool.query('truncate bare');
  return perSecond;
}

/** What the ledger's own statement takes while nobody reports, judges or checks: outcomes of 200 tools, ready made. */
async function statementsPerSecond(pool: ReturnType<typeof createPool>): Promise<number> {
  const names = Array.from({ length: 200 }, (_, i) => ({ server: 'local', name: `statement-${i}` }));
  const headsOf = await new Subjects(pool).of(names);
  const ids = names.map((name) => headsOf(name).id);
  const batches = Array.from({ length: 15 }, () => Array.from({ length: 4000 }, (_, i) => rowOf(ids[i % 200] ?? 0)));
  const begin = performance.now();
  for (const rows of batches) await record(pool, rows, { sentAt: Date.now(), maxLatenessMs: 1000 });
  const perSecond = 60_000 / ((performance.now() - begin) / 1000);
  await pool.query('delete from ledger where subject = any($1)', [ids]);
  return perSecond;
}

function rowOf(subject: number): LedgerRow {
  const nothing = { serverSubject: null, scope: null, agent: null, session: null };
  return { id: newOutcomeId(), subject, kind: 'success', at: Date.now(), rings: false, onServer: false, ...nothing };
}

/** Keeps the buffer well filled without overrunning it, as many agents in one process would. */
function send(gate: Gate, name: string, { outcomes, tools, failing }: Traffic): Promise<void> {
  return new Promise((done, failed) => {
    let [next, acknowledged] = [0, 0];
    const settle = () => {
      acknowledged += 1;
      if (acknowledged === outcomes) done();
      else if (next - acknowledged <= ON_THEIR_WAY / 2) fill();
    };
    const fill = () => {
      for (; next < outcomes && next - acknowledged < ON_THEIR_WAY; next += 1) {
        const tool = `${name}-${next % tools}`;
        const outcome = next % failing === failing - 1 ? FAILED : WORKED;
        gate.report({ tool, args: { query: next }, ...outcome }).then(settle, failed);
      }
    };
    fill();
  });
}

const FAILED = { success: false, error: { message: 'upstream exploded', status: 500 } };
const WORKED = { result: { answer: 'forty-two', items: [1, 2, 3] } };

async function historyCost(
  { client }: Peer,
  pool: ReturnType<typeof createPool>,
  gate: Gate,
  label: string,
  name: string,
  traffic: Traffic,
  budget: number,
): Promise<readonly Row[]> {
  await send(gate, name, traffic);
  await untilApplied(pool);
  const keys = Array.from({ length: traffic.tools }, (_, i) => `tool:local/${name}-${i}`);
  const { events, signals, bytes } = await historyOf(client, keys);
  const per = 1000 / traffic.outcomes;
  return [
    row(`history events per 1,000 outcomes, ${label}`, 'events', [events * per], null, { atMost: budget }),
    row(`signals per 1,000 outcomes, ${label}`, 'signals', [signals * per]),
    row(`history bytes per 1,000 outcomes, ${label}`, 'bytes', [bytes * per]),
  ];
}

/** One call at a time, each long after the last: what a tool costs that is used now and then. */
async function trickle(
  { client }: Peer,
  pool: ReturnType<typeof createPool>,
  gate: Gate,
  what: 'successes' | 'failures',
  budget: number,
): Promise<readonly Row[]> {
  const tool = `trickle-${what}`;
  const key = `tool:local/${tool}`;
  await gate.report({ tool, ...FAILED });
  await untilApplied(pool);
  const before = await historyOf(client, [key]);
  const calls = 20;
  for (let i = 0; i < calls; i += 1) {
    await gate.report({ tool, ...(what === 'failures' ? FAILED : WORKED) });
    await untilApplied(pool);
  }
  const after = await historyOf(client, [key]);
  const rang = Math.max(1, after.signals - before.signals);
  const per = what === 'failures' ? rang : calls / 1000;
  const unit = what === 'failures' ? 'events per doorbell' : 'events per 1,000';
  return [
    row(`history of a trickle of ${what}`, unit, [(after.events - before.events) / per], null, { atMost: budget }),
  ];
}

/** Over all runs of the workflows. */
async function historyOf(client: Peer['client'], keys: readonly string[]) {
  const sum = { events: 0, signals: 0, bytes: 0 };
  for (const key of keys) {
    for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${key}'` })) {
      const { events } = await client.workflow.getHandle(key, runId).fetchHistory();
      for (const event of events ?? []) {
        sum.events += 1;
        sum.bytes += JSON.stringify(event).length;
        if (event.workflowExecutionSignaledEventAttributes) sum.signals += 1;
      }
    }
  }
  return sum;
}
