import type pg from 'pg';
import { parseRules } from '../domain/rules/parse-rules.ts';
import type { Rules } from '../domain/rules/rules.schema.ts';

export interface PublishedRules {
  readonly version: number;
  readonly rules: Rules;
}

// Versions are immutable, so a parsed one is good for as long as the process lives.
const parsed = new Map<number, Rules>();

/** The rules in force; version 0 is what holds before anybody has published. */
export async function currentRules(client: pg.Pool | pg.PoolClient): Promise<PublishedRules> {
  const newest = await client.query<{ version: number }>('select coalesce(max(version), 0) as version from rules');
  const version = newest.rows[0]?.version ?? 0;
  let rules = parsed.get(version);
  if (rules === undefined) {
    const found = await client.query<{ body: unknown }>('select body from rules where version = $1', [version]);
    rules = parseRules(found.rows[0]?.body ?? {});
    parsed.set(version, rules);
  }
  return { version, rules };
}

/** Publishes a version. What is not trusted is rung, because a new rule may move its deadline. */
export async function publishRules(pool: pg.Pool, rules: Rules, by: string, comment = ''): Promise<number> {
  const published = await pool.query<{ version: number }>(
    'insert into rules (body, published_by, comment) values ($1, $2, $3) returning version',
    [JSON.stringify(rules), by, comment],
  );
  const version = published.rows[0]?.version ?? 0;
  // An empty bell makes the worker look for subjects judged by older rules.
  await pool.query(
    `with noted as (insert into audit (actor, action, reason, detail)
       values ($1, 'rules published', $2, jsonb_build_object('version', $3::int)))
     select pg_notify('surety', 'settings'), pg_notify('surety_bell', '')`,
    [by, comment, version],
  );
  return version;
}
