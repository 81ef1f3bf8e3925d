import type pg from 'pg';
import { lowestIdAt } from './outcome-id.ts';
import { inTransaction } from './pool.ts';

const WEEK_MS = 7 * 86_400_000;
/** Behind a table lock that waits for somebody's long read, every report would wait, too: better to try again later. */
const DDL_LIMITS = { lockMs: 1000 };
const PRUNED_AT_ONCE = 20_000;

/** Makes sure that rows of this week and the next two have a partition of their own. Safe to run again. */
export async function createPartitions(pool: pg.Pool, now: number): Promise<void> {
  for (const week of weeksFrom(now)) await createPartition(pool, week);
}

/** The names of those partitions, this week's first. */
export function partitionsFor(now: number): readonly string[] {
  return weeksFrom(now).map(partitionName);
}

function weeksFrom(now: number): readonly number[] {
  const week = Math.floor(now / WEEK_MS);
  return [week, week + 1, week + 2];
}

async function createPartition(pool: pg.Pool, week: number): Promise<void> {
  const name = partitionName(week);
  if (await exists(pool, name)) return;
  const [from, to] = [lowestIdAt(week * WEEK_MS), lowestIdAt((week + 1) * WEEK_MS)];
  await inTransaction(
    pool,
    async (client) => {
      await client.query("select pg_advisory_xact_lock(hashtext('surety partitions'))");
      if (await exists(client, name)) return;
      await client.query(`create table ${name} (like ledger including defaults)`);
      // Rows of a clock that ran ahead wait among the strays; a partition cannot be attached while they do.
      await client.query('lock table ledger_stray in access exclusive mode');
      await client.query(
        `with moved as (delete from ledger_stray where id >= '${from}' and id < '${to}' returning *)
       insert into ${name} select * from moved`,
      );
      await client.query(`alter table ledger attach partition ${name} for values from ('${from}') to ('${to}')`);
    },
    DDL_LIMITS,
  );
}

/**
 * Drops partitions that are past retention and fully applied. A partition in which any subject still has rows to apply
 * is kept, however old, and that subject's bell is wanted, so that the next round may drop it. Answers what was dropped.
 */
export async function dropPartitions(pool: pg.Pool, now: number, retentionDays: number): Promise<readonly string[]> {
  const found = await pool.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'ledger'::regclass and c.relname like 'ledger_w%'`,
  );
  const dropped: string[] = [];
  for (const { name } of found.rows) {
    const week = Number(name.slice('ledger_w'.length));
    if ((week + 1) * WEEK_MS > now - retentionDays * 86_400_000) continue;
    if (await wantBells(pool, name)) continue;
    await inTransaction(pool, (client) => client.query(`drop table ${name}`), DDL_LIMITS);
    dropped.push(name);
  }
  return dropped;
}

/**
 * Rows whose ids callers chose have no time in their ids and share one table: they are deleted once they are past
 * retention and applied, as many at a time as are not noticed.
 */
export async function pruneForeign(pool: pg.Pool, retentionDays: number): Promise<number> {
  const pruned = await pool.query(
    `delete from ledger_foreign where id in (
       select l.id from ledger_foreign l join subject s on s.id = l.subject left join subject v on v.id = l.server_subject
       where l.received_at < now() - $1::int * interval '1 day'
         and l.seq <= s.applied_seq and (v.id is null or l.server_seq <= v.applied_seq)
       limit ${PRUNED_AT_ONCE})`,
    [retentionDays],
  );
  return pruned.rowCount ?? 0;
}

/** Successes of a trusted tool do not ring; here they do, or they would go before anybody has seen them. */
async function wantBells(pool: pg.Pool, partition: string): Promise<boolean> {
  const unapplied = await pool.query(
    `with row as (
       select subject as id, seq from ${partition} union all
       select server_subject, server_seq from ${partition} where server_subject is not null
     ), late as (
       select row.id, max(row.seq) as seq from row join subject s on s.id = row.id and row.seq > s.applied_seq group by row.id
     )
     update subject s set ring_seq = greatest(s.ring_seq, late.seq) from late where late.id = s.id`,
  );
  return unapplied.rowCount !== 0;
}

/** By a query and not by to_regclass: that one may answer from a cache older than the lock we have waited for. */
async function exists(client: pg.Pool | pg.PoolClient, name: string): Promise<boolean> {
  const found = await client.query(
    "select 1 from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'ledger'::regclass and c.relname = $1",
    [name],
  );
  return found.rowCount !== 0;
}

function partitionName(week: number): string {
  return `ledger_w${week}`;
}
