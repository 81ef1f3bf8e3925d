import type pg from 'pg';
import type { Parts, Subject } from '../domain/trust/parts.ts';
import type { Projected } from '../domain/trust/parts.schema.ts';
import { readParts } from '../domain/trust/parts.schema.ts';
import { askForBells } from './record.ts';
import { currentRules } from './rules.ts';
import type { PublishedRules } from './rules.ts';

/** The projected trust of one subject, as a gate reads it. */
export interface Standing extends Subject {
  readonly id: number;
  readonly key: string;
  readonly version: number;
  readonly seq: number;
  /** Why the strictest part is what it is, or why all is well again. */
  readonly reason: string;
  readonly dueAt: number | null;
  readonly parts: Parts;
}

type Row = Omit<Standing, 'parts'> & Projected & { readonly parts: unknown };

async function readRows(pool: pg.Pool, where: string, values: readonly unknown[] = []): Promise<readonly Standing[]> {
  const found = await pool.query<Row>(
    `select s.id, s.key, s.kind, s.server, s.name, t.version, t.seq, t.status, t.reason, t.parts,
       extract(epoch from t.due_at)::float8 * 1000 as "dueAt", extract(epoch from t.updated_at)::float8 * 1000 as at
     from trust t join subject s on s.id = t.subject where ${where}`,
    [...values],
  );
  return found.rows.map(({ status, at, parts, ...row }) => ({
    ...row,
    parts: readParts(parts, { status, at, reason: row.reason, version: row.version }).parts,
  }));
}

/** Everything a gate must know before it may say anything: all that is not trusted. */
export function readInDoubt(pool: pg.Pool): Promise<readonly Standing[]> {
  return readRows(pool, "t.status <> 'TRUSTED'");
}

export function readStandings(pool: pg.Pool, subjects: readonly number[]): Promise<readonly Standing[]> {
  return readRows(pool, 't.subject = any($1)', [subjects]);
}

/** What changed lately, by the database's clock: heals a notification that was lost. */
export function readRecent(pool: pg.Pool, seconds: number): Promise<readonly Standing[]> {
  return readRows(pool, "t.updated_at > clock_timestamp() - $1::float8 * interval '1 second'", [seconds]);
}

/** Which of these tools have ever been reported; a question about one makes it no better known. */
export async function readKnown(pool: pg.Pool, keys: readonly string[]): Promise<readonly string[]> {
  const found = await pool.query<{ key: string }>('select key from subject where key = any($1) and outcomes > 0', [
    keys,
  ]);
  return found.rows.map(({ key }) => key);
}

/**
 * How far subjects have been judged that somebody holds something against on its own account. Only a judgement ends that, so
 * what was left alone until now is rung for.
 */
export async function readApplied(pool: pg.Pool, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = await pool.query<{ id: number; key: string; applied_seq: number; left_alone: boolean }>(
    `with left_alone as (
       update subject set ring_seq = seq where key = any($1) and seq > applied_seq and ring_seq <= applied_seq returning id
     )
     select id, key, applied_seq, id in (select id from left_alone) as left_alone from subject where key = any($1)`,
    [keys],
  );
  await askForBells(
    pool,
    found.rows.filter((row) => row.left_alone).map(({ id }) => id),
  );
  return new Map(found.rows.map((row) => [row.key, row.applied_seq]));
}

export interface Settings extends PublishedRules {
  /** Epoch milliseconds, or null: everything but the blocklist is allowed until then. */
  readonly brokenGlassUntil: number | null;
}

export async function readSettings(pool: pg.Pool): Promise<Settings> {
  const [published, glass] = await Promise.all([
    currentRules(pool),
    pool.query<{ until: number }>(
      `select extract(epoch from until)::float8 * 1000 as until from break_glass order by id desc limit 1`,
    ),
  ]);
  return { ...published, brokenGlassUntil: glass.rows[0]?.until ?? null };
}

/** Opens until a time, or closes again when that time has passed. Audited. */
export async function breakGlass(pool: pg.Pool, until: number, by: string, reason: string): Promise<void> {
  await pool.query(
    `with opened as (insert into break_glass (until, by, reason) values (to_timestamp($1::float8 / 1000), $2, $3)),
     noted as (insert into audit (actor, action, reason, detail)
       values ($2, 'break glass', $3, jsonb_build_object('until', to_timestamp($1::float8 / 1000))))
     select pg_notify('surety', 'settings')`,
    [until, by, reason],
  );
}
