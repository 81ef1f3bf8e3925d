import type pg from 'pg';
import type { Grant } from '../domain/approval/grant.ts';
import { ABOUT, withdrawQuestions } from './approval-ask.ts';
import { HAS_RUN } from './has-run.ts';

const COLUMNS = `g.id, s.key as "toolKey", g.kind, g.covers, g.pattern, g.scope, g.agent, g.session, g.digest, g.definition,
  ${ABOUT}, case when a.edit_digest is not null then a.digest end as replaces,
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
    `select ${COLUMNS} from approval_grant g join subject s on s.id = g.subject join approval a on a.id = g.approval
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
       left join approval a on a.id = g.approval
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
  /** What to run instead of what was asked for; only for the arguments that were asked about. */
  readonly edited: { readonly args: unknown; readonly digest: string } | null;
}

/** A call that is to run under a grant. */
export interface Consuming {
  /** As the ledger knows it. */
  readonly callId: string;
  /** Of its arguments; left out: those that were asked about. */
  readonly digest?: string | undefined;
  /** Whose call it is, where that is known for certain: another's grant is not for it. */
  readonly agent?: string;
}

/**
 * Uses a grant for one call. One conditional update: of many that race for a once-grant one gets it, and that one again
 * as often as it asks. Undefined for all others, where it was revoked or has ended, and for any agent but the given one.
 */
export async function consumeGrant(
  pool: pg.Pool,
  grant: string,
  { callId, digest, agent }: Consuming,
): Promise<Consumed | undefined> {
  const used = await pool.query<Consumed>(
    `update approval_grant g set
       consumed_by = case when g.kind = 'once' then $2::uuid end,
       consumed_at = case when g.kind = 'once' then coalesce(g.consumed_at, clock_timestamp()) end
     from approval a left join approval_decision d on d.approval = a.id and d.edit_digest = a.edit_digest
       and d.outcome = 'taken'
     where g.id = $1 and a.id = g.approval and g.revoked_at is null and ($3::text is null or g.agent = $3)
       and (g.until is null or g.until > clock_timestamp())
       and (g.covers <> 'arguments' or coalesce($4, a.digest) in (a.digest, g.digest))
       and (g.kind <> 'once' or g.consumed_by is null
         or (g.consumed_by = $2::uuid and not ${HAS_RUN}))
     returning g.id, g.kind, g.given_by as by,
       case when a.edit_digest is not null and coalesce($4, a.digest) = a.digest then json_build_object('args', d.edit, 'digest', a.edit_digest) end as edited`,
    [grant, callId, agent ?? null, digest ?? null],
  );
  const [consumed] = used.rows;
  if (consumed !== undefined) await tellGates(pool, [grant]);
  return consumed;
}

/** Of a grant that was used up nothing is left once its call has been reported; until then that call may come back for it. */
const NOT_USED_UP = `(g.consumed_by is null or not ${HAS_RUN})`;

/** Ends all that an agent was granted. */
export async function revokeGrantsOf(client: pg.PoolClient, agent: string, reason: string): Promise<void> {
  const found = await client.query<{ id: string }>(
    `select g.id from approval_grant g where g.agent = $1 and g.revoked_at is null and ${NOT_USED_UP}`,
    [agent],
  );
  await revokeGrants(
    client,
    found.rows.map(({ id }) => id),
    'surety',
    reason,
  );
}

/** Ends grants; answers which. A grant whose call has run, or that was revoked before, stays as it is. */
export async function revokeGrants(
  pool: pg.Pool | pg.PoolClient,
  ids: readonly string[],
  by: string,
  reason: string,
): Promise<readonly string[]> {
  const revoked = await pool.query<{ id: string }>(
    `with revoked as (
       update approval_grant g set revoked_at = clock_timestamp(), revoked_by = $2, revoke_reason = $3
       where g.id = any($1) and g.revoked_at is null and ${NOT_USED_UP} returning g.id, g.subject
     ), noted as (
       insert into audit (subject, actor, action, reason, detail)
       select subject, $2, 'grant revoked', $3, jsonb_build_object('grant', id) from revoked
     )
     select id, pg_notify('surety', 'grants:' || subject) from revoked`,
    [ids, by, reason],
  );
  return revoked.rows.map(({ id }) => id);
}

/** The tools `t` that a subject `s` stands for: itself, or all of a server. */
const ITS_TOOLS = `join subject t on t.id = s.id or (s.kind = 'server' and t.kind = 'tool' and t.server = s.server)`;

/** What a block is about; what is left out is all of it. */
export interface BlockedPart {
  readonly scope?: string;
  /** Only for this agent; empty for those without a name. */
  readonly agent?: string;
}

/**
 * What was granted to a tool, to one scope of it, or to any tool of a server ends with its being blocked, and what was asked
 * about it before is taken back: nobody is to decide about what would be denied, or about less than is held now.
 */
export async function endBlocked(client: pg.PoolClient, subject: number, { scope, agent }: BlockedPart): Promise<void> {
  const live = await client.query<{ id: string; kind: 'tool' | 'server' }>(
    `select g.id, s.kind from subject s ${ITS_TOOLS} join approval_grant g on g.subject = t.id
     where s.id = $1 and g.revoked_at is null and ${NOT_USED_UP}
       and ($2::text is null or g.scope = $2 or g.covers = 'tool')
       and ($3::text is null or coalesce(g.agent, '') = $3)`,
    [subject, scope ?? null, agent ?? null],
  );
  const open = await client.query<{ id: string; kind: 'tool' | 'server' }>(
    `select a.id, s.kind from subject s ${ITS_TOOLS} join approval a on a.subject = t.id
     where s.id = $1 and a.status = 'pending' and a.state is distinct from 'BLOCKED'
       and ($2::text is null or a.scope = $2) and ($3::text is null or coalesce(a.agent, '') = $3)`,
    [subject, scope ?? null, agent ?? null],
  );
  const reason = [...live.rows, ...open.rows][0]?.kind === 'server' ? 'its server is blocked' : 'blocked';
  if (live.rows.length > 0) {
    await revokeGrants(
      client,
      live.rows.map(({ id }) => id),
      'surety',
      reason,
    );
  }
  await withdrawQuestions(
    client,
    open.rows.map(({ id }) => id),
    reason,
  );
}

export async function tellGates(pool: pg.Pool | pg.PoolClient, grants: readonly string[]): Promise<void> {
  await pool.query(
    "select pg_notify('surety', 'grants:' || subject) from (select distinct subject from approval_grant where id = any($1)) g",
    [grants],
  );
}

/** One grant and the tool it is for, also where it has ended. */
export async function readGrant(
  pool: pg.Pool,
  id: string,
): Promise<{ readonly grant: Grant; readonly server: string; readonly name: string } | undefined> {
  const found = await pool.query<Row & { server: string; name: string }>(
    `select ${COLUMNS}, s.server, s.name from approval_grant g join subject s on s.id = g.subject
       join approval a on a.id = g.approval where g.id = $1`,
    [id],
  );
  const [row] = found.rows;
  if (row === undefined) return undefined;
  const { server, name, ...grant } = row;
  return { grant: grantOf(grant), server, name };
}

/** What a tool says it is to an agent. */
export interface Definition {
  readonly key: string;
  readonly definition: string;
  readonly agent: string | undefined;
  /** Who says so, where that is not the agent itself. */
  readonly by?: string;
}

/**
 * What an agent was granted to another definition of a tool ends, and what it asked about that is taken back. Others may
 * be told something else by the same tool: theirs is left alone.
 */
export async function defineTool(pool: pg.Pool, { key, definition, agent, by }: Definition): Promise<void> {
  const old = await pool.query<{ id: string; isOpen: boolean }>(
    `select a.id, a.status = 'pending' as "isOpen"
     from subject s join approval a on a.subject = s.id left join approval_grant g on g.approval = a.id
     where s.key = $1 and a.agent is not distinct from $3 and a.definition is distinct from $2
       and (a.status = 'pending' or (g.revoked_at is null and g.id is not null and ${NOT_USED_UP}))`,
    [key, definition, agent ?? null],
  );
  const reason = 'its definition is another';
  const [open, granted] = [true, false].map((wanted) =>
    old.rows.filter(({ isOpen }) => isOpen === wanted).map(({ id }) => id),
  );
  await withdrawQuestions(pool, open ?? [], reason);
  if (granted !== undefined && granted.length > 0) await revokeGrants(pool, granted, by ?? agent ?? 'surety', reason);
}
