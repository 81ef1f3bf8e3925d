import { connect } from 'surety';
import { createPool } from '../src/postgres/pool.ts';
import { parseRules } from '../src/domain/rules/parse-rules.ts';
import { Subjects } from '../src/postgres/intern.ts';
import { prepare, record } from '../src/postgres/record.ts';
import type { LedgerRow } from '../src/postgres/record.ts';
import { newOutcomeId } from '../src/postgres/outcome-id.ts';
import { publishRules } from '../src/postgres/rules.ts';
import { historyCost, TRICKLE, trickle } from './history.ts';
import { alternate, row } from './measure.ts';
import type { Row } from './measure.ts';
import { signalsPerSecond, startPeer } from './peer-client.ts';
import { cpuSecondsOf, pidsOf } from './processes.ts';
import { untilApplied } from './stack.ts';
import type { BenchStack } from './stack.ts';
import { send } from './traffic.ts';
import type { Traffic } from './traffic.ts';

const OUTCOMES = 60_000;
const SIGNALS = 600;
const FAILURES = 6000;
const [WARM_UP, ROUNDS] = [1, 7];
const RULES = {
  // One call in twenty fails, and that is how these tools are: as whoever has such tools would set it.
  defaultRule: { preset: 'rate-based' },
  toolRules: {
    'failing-*': { rateThreshold: 1, expectedFailureRate: 0.9 },
    // A trickle is slow enough for none to be held against it, and each is rung for.
    'trickle-failures': { countThreshold: 9, windowSeconds: 1 },
  },
};

/** Outcomes acknowledged per second beside bare signals per second, and what they cost in histories. */
export async function report(stack: BenchStack): Promise<readonly Row[]> {
  const pool = createPool(stack.databaseUrl, { max: 2 });
  const peer = await startPeer(stack);
  const gate = await connect({ databaseUrl: stack.databaseUrl, agent: 'bench' });
  // By the rules that everybody begins with: of twenty failures one escalates it and one blocks it.
  const byDefault = await trickle(peer, pool, gate, 'failures', 'escalated and blocked meanwhile', null);
  await publishRules(pool, parseRules(RULES), 'bench');
  const { postgres } = pidsOf(stack.home);
  const cost = { success: [] as number[], failure: [] as number[], database: [] as number[] };
  let [rounds, lost] = [0, 0];
  const outcomesPerSecond = async (traffic: Omit<Traffic, 'outcomes'>) => {
    const calls: string[] = [];
    const [own, database] = [process.cpuUsage(), cpuSecondsOf(postgres)];
    const begin = performance.now();
    await send(gate, `speed-${traffic.failing}`, { ...traffic, outcomes: OUTCOMES }, calls);
    const perSecond = OUTCOMES / ((performance.now() - begin) / 1000);
    if (traffic.failing === Infinity) {
      cost.success.push(microsecondsSince(own) / OUTCOMES);
      cost.database.push(((cpuSecondsOf(postgres) - database) * 1e6) / OUTCOMES);
    }
    lost += OUTCOMES - (await countIn(pool, calls));
    await settle(pool);
    return perSecond;
  };
  const failureCosts = async () => {
    const own = process.cpuUsage();
    await send(gate, 'failing', { outcomes: FAILURES, tools: 200, failing: 1 });
    cost.failure.push(microsecondsSince(own) / FAILURES);
    await settle(pool);
    return 0;
  };
  const bare = async () => {
    const handle = await peer.start(`bare-${(rounds += 1)}`);
    const perSecond = await signalsPerSecond(handle, SIGNALS);
    // So many keep it busy for a while after.
    await handle.terminate();
    return perSecond;
  };
  const sides = {
    hot: () => outcomesPerSecond({ tools: 1, failing: 20 }),
    spread: () => outcomesPerSecond({ tools: 200, failing: 20 }),
    unjudged: () => outcomesPerSecond({ tools: 200, failing: Infinity }),
    failures: failureCosts,
    bare,
  };
  // As in processes that have been running: until then their code is compiled, and every tool's workflow begins.
  await alternate(sides, WARM_UP);
  for (const costs of Object.values(cost)) costs.length = 0;
  const seen = await alternate(sides, ROUNDS);
  const sent = (OUTCOMES * 3 + FAILURES) * (WARM_UP + ROUNDS) + TRICKLE;
  const recorded = await pool.query<{ rows: number }>('select count(*) as rows from ledger');
  const database = await alternate(
    { bare, insert: () => bareInsertsPerSecond(pool), statement: () => statementsPerSecond(pool) },
    ROUNDS,
  );
  const costs = [
    ...(await historyCost(peer, pool, gate, 'hot tool', 'cost-hot', { outcomes: 60_000, tools: 1, failing: 20 }, 30)),
    // Bells of one tool are one while it is judged: the longer it lasts, the less the first of each weighs.
    ...(await historyCost(
      peer,
      pool,
      gate,
      '200 tools, a short run',
      'cost-short',
      { outcomes: 40_000, tools: 200, failing: 20 },
      null,
    )),
    ...(await historyCost(
      peer,
      pool,
      gate,
      '200 tools',
      'cost-many',
      { outcomes: 100_000, tools: 200, failing: 20 },
      30,
    )),
    ...(await trickle(peer, pool, gate, 'successes', '', 0)),
    ...(await trickle(peer, pool, gate, 'failures', '', 6)),
    ...byDefault,
  ];
  await gate.close();
  await peer.stop();
  await pool.end();
  return [
    row('outcomes acknowledged / bare signals, 1 hot tool', 'per s', seen.hot, seen.bare, { atLeast: 100 }),
    row('outcomes acknowledged / bare signals, 200 tools', 'per s', seen.spread, seen.bare, { atLeast: 100 }),
    row('outcomes acknowledged / bare signals, 200 tools, none fails', 'per s', seen.unjudged, seen.bare),
    row('rows that a bare insert takes / bare signals', 'per s', database.insert, database.bare),
    row('rows that the ledger’s statement takes / bare signals', 'per s', database.statement, database.bare),
    row('rows in the ledger / outcomes acknowledged', 'rows', [recorded.rows[0]?.rows ?? 0], [sent], { exactly: 1 }),
    row('acknowledged outcomes not found in the ledger', 'calls', [lost], null, { exactly: 0 }),
    row('CPU of the reporting process per success', 'µs', cost.success),
    row('CPU of the reporting process per failure', 'µs', cost.failure),
    row('CPU of Postgres per success', 'µs', cost.database),
    ...costs,
  ];
}

/**
 * What one leaves to be done must not fall on whoever is measured next: judging, and the files of the log, which a database
 * takes up again after a checkpoint and fills with zeroes anew in the first minutes of its life.
 */
async function settle(pool: ReturnType<typeof createPool>): Promise<void> {
  await untilApplied(pool);
  await pool.query('checkpoint');
}

function microsecondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Of calls, each counted once. */
async function countIn(pool: ReturnType<typeof createPool>, calls: readonly string[]): Promise<number> {
  const text = 'select count(distinct l.id) as found from unnest($1::uuid[]) as id join ledger l using (id)';
  return (await pool.query<{ found: number }>(text, [`{${calls.join()}}`])).rows[0]?.found ?? 0;
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
  for (const rows of batches)
    await record(pool, prepare(rows), { sentAt: Date.now(), maxLatenessMs: 1000, rulesVersion: 1 });
  const perSecond = 60_000 / ((performance.now() - begin) / 1000);
  await pool.query('delete from ledger where subject = any($1)', [ids]);
  return perSecond;
}

function rowOf(subject: number): LedgerRow {
  const nothing = { serverSubject: null, scope: null, agent: null, session: null };
  return {
    id: newOutcomeId(),
    subject,
    kind: 'success',
    at: Date.now(),
    rings: false,
    canWait: false,
    onServer: false,
    ...nothing,
  };
}
