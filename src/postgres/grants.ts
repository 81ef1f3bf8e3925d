import type pg from 'pg';
import type { Grant } from '../domain/approval/grant.ts';
import { inTransaction } from './pool.ts';

const COLUMNS = `g.id, s.key as "toolKey", g.kind, g.covers, g.pattern, g.scope, g.agent, g.session, g.digest, g.definition,
  extract(epoch from g.until)::float8 * 1000 as until, extract(epoch from g.given_at)::float8 * 1000 as "givenAt",
  g.given_by as by`;
/** What may still answer a call. */
export const LIVE = `g.revoked_at is null and g.consumed_by is null and (g.until is null or g.until > clock_timestamp())`;

type Row = Omit<Grant, 'until' | 'pattern'> & {
  until: number | null;
  pattern: Readonly<Record<string, string>> | null;
};

/** Every grant that may still answer a call. */
export async function readGrants(pool: pg.Pool): Promise<readonly Grant[]> {
  const found = await pool.query<Row>(
    `select ${COLUMNS} from approval_grant g join subject s on s.id = g.subject
     where ${LIVE} order by g.given_at`,
  );
  return found.rows.map(grantOf);
}

function grantOf({ until, pattern, ...grant }: Row): Grant {
  return { ...grant, ...(until === null ? {} : { until }), ...(pattern === null ? {} : { pattern }) };
}

/** The same of some tools, also of those that have none left. */
export async function readGrantsOf(
  pool: pg.Pool,
  subjects: readonly number[],
): Promise<readonly { readonly toolKey: string; readonly grants: readonly Grant[] }[]> {
  const found = await pool.query<{ toolKey: string } & ({ id: null } | Row)>(
    `select s.key as "toolKey", ${COLUMNS} from subject s left join approval_grant g on g.subject = s.id and ${LIVE}
     where s.id = any($1) order by g.given_at`,
    [subjects],
  );
  const byTool = new Map<string, Grant[]>();
  for (const row of found.rows) {
    const ofTool = byTool.get(row.toolKey) ?? [];
    byTool.set(row.toolKey, row.id === null ? ofTool : [...ofTool, grantOf(row)]);
  }
  return [...byTool].map(([toolKey, grants]) => ({ toolKey, grants }));
}

export interface Consumed {
  readonly id: string;
  readonly kind: Grant['kind'];
  readonly by: string | null;
  /** What to run instead of what was asked for. */
  readonly edited: { readonly args: unknown; readonly digest: string } | null;
}

/**
 * Uses a grant for one call. One conditional update: of many that race for a once-grant one gets it, and that one again
 * as often as it asks. Undefined for all others, where it was revoked or has ended, and for any agent but the given one.
 */
export async function consumeGrant(
  pool: pg.Pool,
  grant: string,
  callId: string,
  agent?: string,
): Promise<Consumed | undefined> {
  const used = await pool.query<Consumed>(
    `update approval_grant g set
       consumed_by = case when g.kind = 'once' then $2::uuid end,
       consumed_at = case when g.kind = 'once' then coalesce(g.consumed_at, clock_timestamp()) end,
       uses = g.uses + case when g.consumed_by is distinct from $2::uuid then 1 else 0 end
     from approval a left join approval_decision d on d.approval = a.id and d.edit_digest = a.edit_digest
       and d.outcome = 'taken'
     where g.id = $1 and a.id = g.approval and g.revoked_at is null and ($3::text is null or g.agent = $3)
       and (g.until is null or g.until > clock_timestamp())
       and (g.kind <> 'once' or g.consumed_by is null
         or (g.consumed_by = $2::uuid and not exists (select 1 from ledger l where l.id = $2::uuid)))
     returning g.id, g.kind, g.given_by as by,
       case when a.edit_digest is not null then json_build_object('args', d.edit, 'digest', a.edit_digest) end as edited`,
    [grant, callId, agent ?? null],
  );
  const [consumed] = used.rows;
  if (consumed !== undefined) await tellGates(pool, [grant]);
  return consumed;
}

/** Ends grants; answers which. A grant that has been used up or revoked before stays as it is. */
export async function revokeGrants(
  pool: pg.Pool | pg.PoolClient,
  ids: readonly string[],
  by: string,
  reason: string,
): Promise<readonly string[]> {
  const revoked = await pool.query<{ id: string }>(
    `with revoked as (
       update approval_grant set revoked_at = clock_timestamp(), revoked_by = $2, revoke_reason = $3
       where id = any($1) and revoked_at is null and consumed_by is null returning id, subject
     ), noted as (
       insert into audit (subject, actor, action, reason, detail)
       select subject, $2, 'grant revoked', $3, jsonb_build_object('grant', id) from revoked
     )
     select id, pg_notify('surety', 'grants:' || subject) from revoked`,
    [ids, by, reason],
  );
  return revoked.rows.map(({ id }) => id);
}

/** What was granted to a tool, or to one scope of it, ends with its being blocked or redefined. */
export async function revokeGrantsOf(
  client: pg.PoolClient,
  subject: number,
  scope: string | null,
  reason: string,
): Promise<void> {
  const live = await client.query<{ id: string }>(
    `select g.id from approval_grant g where g.subject = $1 and g.revoked_at is null and g.consumed_by is null
       and ($2::text is null or g.scope = $2 or g.covers = 'tool')`,
    [subject, scope],
  );
  if (live.rows.length === 0) return;
  await revokeGrants(
    client,
    live.rows.map(({ id }) => id),
    'surety',
    reason,
  );
}

export async function tellGates(pool: pg.Pool | pg.PoolClient, grants: readonly string[]): Promise<void> {
  await pool.query(
    "select pg_notify('surety', 'grants:' || subject) from (select distinct subject from approval_grant where id = any($1)) g",
    [grants],
  );
}

/** Notes what a tool says it is. Where that is news to a tool that said something else, its grants end. */
export async function defineTool(pool: pg.Pool, key: string, definition: string): Promise<void> {
  const known = await pool.query('select 1 from subject where key = $1 and definition = $2', [key, definition]);
  if (known.rowCount !== 0) return;
  await inTransaction(pool, async (client) => {
    const before = await client.query<{ id: number; definition: string | null }>(
      'select id, definition from subject where key = $1 for update',
      [key],
    );
    const [head] = before.rows;
    if (head === undefined || head.definition === definition) return;
    await client.query('update subject set definition = $2 where id = $1', [head.id, definition]);
    if (head.definition === null) return;
    await client.query(
      "insert into audit (subject, actor, action, reason) values ($1, 'surety', 'redefined', 'its definition is another')",
      [head.id],
    );
    await revokeGrantsOf(client, head.id, null, 'its definition is another');
  });
}
