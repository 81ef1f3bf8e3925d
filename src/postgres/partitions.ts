import type pg from 'pg';
import { lowestIdAt } from './outcome-id.ts';
import { inTransaction } from './pool.ts';

const WEEK_MS = 7 * 86_400_000;

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
  await inTransaction(pool, async (client) => {
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
  });
}

/**
 * Drops partitions that are past retention and fully applied. A partition in which any subject still has rows to apply
 * is kept, however old. Answers what was dropped.
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
    const unapplied = await pool.query(
      `select 1 from ${name} l join subject s on s.id = l.subject where l.seq > s.applied_seq and l.seq <= s.ring_seq limit 1`,
    );
    if (unapplied.rowCount !== 0) continue;
    await pool.query(`drop table ${name}`);
    dropped.push(name);
  }
  return dropped;
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
