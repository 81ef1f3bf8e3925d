import type pg from 'pg';
import { InvalidRules, parseRules } from '../domain/rules/parse-rules.ts';
import type { Rules } from '../domain/rules/rules.schema.ts';
import { inTransaction } from './pool.ts';

export interface PublishedRules {
  readonly version: number;
  readonly rules: Rules;
  /** A newer version that this Surety cannot read, and why. A newer Surety has published it, or somebody wrote by hand. */
  readonly unreadable?: { readonly version: number; readonly complaint: string };
}

// A published version never changes. The time tells it from one of that number in another, or a restored, database.
const parsed = new Map<string, Rules | InvalidRules>();

/**
 * The rules in force: the newest version that can be read, so that one that cannot does not stop every tool. Version 0 is
 * what holds before anybody has published.
 */
export async function currentRules(client: pg.Pool | pg.PoolClient): Promise<PublishedRules> {
  let unreadable: PublishedRules['unreadable'];
  for (let below = 2 ** 31 - 1; ;) {
    const found = await client.query<{ version: number; published: string }>({
      name: 'newest rules',
      text: 'select version, published_at::text as published from rules where version < $1 order by version desc limit 1',
      values: [below],
    });
    const [newest] = found.rows;
    if (newest === undefined) return { version: 0, rules: parseRules({}), ...(unreadable ? { unreadable } : {}) };
    const { version } = newest;
    const rules = await read(client, version, newest.published);
    if (!(rules instanceof InvalidRules)) return { version, rules, ...(unreadable ? { unreadable } : {}) };
    unreadable ??= { version, complaint: rules.message };
    below = version;
  }
}

async function read(
  client: pg.Pool | pg.PoolClient,
  version: number,
  published: string,
): Promise<Rules | InvalidRules> {
  const name = `${version} of ${published}`;
  const known = parsed.get(name);
  if (known !== undefined) return known;
  const found = await client.query<{ body: unknown }>('select body from rules where version = $1', [version]);
  const rules = parsedOrNot(found.rows[0]?.body);
  parsed.set(name, rules);
  return rules;
}

function parsedOrNot(body: unknown): Rules | InvalidRules {
  try {
    return parseRules(body);
  } catch (error) {
    if (error instanceof InvalidRules) return error;
    throw error;
  }
}

/** Publishes a version. What is not trusted is rung, because a new rule may move its deadline. */
export async function publishRules(pool: pg.Pool, rules: Rules, by: string, comment = ''): Promise<number> {
  return oneAtATime(pool, (client) => insertRules(client, rules, by, comment));
}

/** The same, if nobody has published since `expected`; otherwise answers which version is in force. */
export async function publishAfter(
  pool: pg.Pool,
  expected: number,
  rules: Rules,
  by: string,
  comment: string,
): Promise<{ readonly published: number } | { readonly inForce: number }> {
  return oneAtATime(pool, async (client) => {
    const { version } = await currentRules(client);
    return version === expected ? { published: await insertRules(client, rules, by, comment) } : { inForce: version };
  });
}

/** Whoever compares versions must not be overtaken by whoever does not. */
function oneAtATime<T>(pool: pg.Pool, publish: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (client) => {
    await client.query("select pg_advisory_xact_lock(hashtext('surety rules'))");
    return publish(client);
  });
}

async function insertRules(client: pg.PoolClient, rules: Rules, by: string, comment: string): Promise<number> {
  const published = await client.query<{ version: number }>(
    'insert into rules (body, published_by, comment) values ($1, $2, $3) returning version',
    [JSON.stringify(rules), by, comment],
  );
  const version = published.rows[0]?.version ?? 0;
  // An empty bell makes the worker look for subjects judged by older rules.
  await client.query(
    `with noted as (insert into audit (actor, action, reason, detail)
       values ($1, 'rules published', $2, jsonb_build_object('version', $3::int)))
     select pg_notify('surety', 'settings'), pg_notify('surety_bell', '')`,
    [by, comment, version],
  );
  return version;
}
