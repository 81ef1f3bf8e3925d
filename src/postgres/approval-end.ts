import type pg from 'pg';
import type { ApprovalState, Message, Speaker } from '../domain/approval/approval.ts';
import { coveredBy } from '../domain/approval/grant.ts';
import type { GrantTerms } from '../domain/approval/grant.ts';
import type { ApprovalTerms } from '../domain/rules/rules.schema.ts';
import { approvalEvent } from '../domain/webhook/event.ts';
import type { ToldQuestion } from '../domain/webhook/event.ts';
import { storable } from '../domain/outcome/field.ts';
import { tellGates } from './grants.ts';
import { inTransaction } from './pool.ts';
import { storableJson } from './text.ts';
import { ownersOf } from './tokens.ts';
import { tellWebhooks } from './webhook-outbox.ts';

export interface WrittenDecision {
  readonly message: Message;
  readonly speaker: Speaker;
  /** Whoever the agent that asked belongs to now; absent in histories from before it was looked up. */
  readonly ownersNow?: readonly string[];
}

/** A decision that somebody wrote down before the workflow was told of it; undefined where there is none of that id. */
export async function readDecision(
  pool: pg.Pool,
  approval: string,
  decision: string,
): Promise<WrittenDecision | undefined> {
  const found = await pool.query<{
    verb: Message['type'];
    by: string;
    reason: string;
    at: number;
    expected_version: number | null;
    grant_terms: GrantTerms | null;
    extend_seconds: number | null;
    edit_digest: string | null;
    token: string | null;
    owner: string | null;
    roles: readonly string[] | null;
    agent: string | null;
    has_tokens: boolean;
  }>(
    `select d.verb, d.by, d.reason, extract(epoch from d.at)::float8 * 1000 as at, d.expected_version, d.grant_terms,
       d.extend_seconds, d.edit_digest, d.token, t.owner, t.roles, a.agent,
       exists (select 1 from token) as has_tokens
     from approval_decision d join approval a on a.id = d.approval left join token t on t.id = d.token
       and (t.revoked_at is null or t.revoked_at > d.at) and (t.expires_at is null or t.expires_at > d.at)
     where d.id = $1 and d.approval = $2 and d.outcome is null`,
    [decision, approval],
  );
  const [row] = found.rows;
  if (row === undefined) return undefined;
  const base = {
    at: row.at,
    reason: row.reason,
    ...(row.expected_version === null ? {} : { expectedVersion: row.expected_version }),
  };
  const ownersNow = row.agent === null ? [] : await ownersOf(pool, row.agent);
  return { message: messageOf(row, base), speaker: speakerOf(row), ownersNow };
}

/** Only a token proves a name. Whoever wrote without one has access to the database, and may write any name there. */
function speakerOf(row: {
  by: string;
  token: string | null;
  owner: string | null;
  roles: readonly string[] | null;
  has_tokens: boolean;
}): Speaker {
  const { by, token, owner, roles, has_tokens: hasTokens } = row;
  if (token === null) {
    return { by, person: by, verified: false, isAgent: false, mayDecide: !hasTokens, mayWithdraw: true };
  }
  const has = (role: string) => roles?.includes(role) ?? false;
  const mayDecide = has('approver') || has('admin');
  return { by, person: owner ?? by, verified: roles !== null, isAgent: has('agent'), mayDecide };
}

function messageOf(
  row: {
    verb: Message['type'];
    grant_terms: GrantTerms | null;
    extend_seconds: number | null;
    edit_digest: string | null;
  },
  base: { at: number; reason: string; expectedVersion?: number },
): Message {
  switch (row.verb) {
    case 'approve':
      return {
        ...base,
        type: 'approve',
        grant: row.grant_terms ?? { kind: 'once' },
        ...(row.edit_digest === null ? {} : { editDigest: row.edit_digest }),
      };
    case 'extend':
      return { ...base, type: 'extend', bySeconds: row.extend_seconds ?? 0 };
    case 'deny':
    case 'withdraw':
      return { ...base, type: row.verb };
  }
}

export interface ApprovalChange {
  readonly id: string;
  readonly state: ApprovalState;
  readonly terms: ApprovalTerms;
  /** What happened, for the audit. */
  readonly action: string;
  readonly actor: string;
  readonly reason: string;
  /** The decision it came from, where one was written down. */
  readonly decision?: string;
}

/** What happens to an open question and is told outside: that somebody is asked once more, or somebody else is. */
const TOLD: Readonly<Record<string, 'approval.reminded'>> = {
  'approval reminded': 'approval.reminded',
  'approval passed on': 'approval.reminded',
};

/**
 * Writes what has become of a question, and what an approval leaves behind, in one transaction. Safe to run twice: an
 * older or equal version changes nothing, and a grant has its question's id.
 */
export async function writeApproval(pool: pg.Pool, change: ApprovalChange): Promise<void> {
  const { id, state, terms, decision } = change;
  const { end } = state;
  await inTransaction(pool, async (client) => {
    const written = await client.query<ToldQuestion & { subject: number; now: number }>(
      `update approval set status = $2, version = $3, level = $4, reminders = $5, consents = $6,
         expires_at = to_timestamp($7::float8 / 1000), ended_at = to_timestamp($8::float8 / 1000), ended_by = $9,
         end_reason = $10, verified = $11, edit_digest = $12, agreed = $14,
         holds_until = case when $2 = 'denied' then clock_timestamp() + $13::int * interval '1 second' end
       where id = $1 and status = 'pending' and (version, reminders) < ($3, $5)
       returning subject, id, server, tool, scope, agent, because, risk,
         extract(epoch from clock_timestamp())::float8 * 1000 as now`,
      [
        ...[id, state.status, state.version, state.level, state.reminders, state.consents, state.expiresAt],
        ...[
          end?.at ?? null,
          storableOrNull(end?.by),
          storableOrNull(end?.reason),
          end?.verified ?? null,
          end?.editDigest ?? null,
        ],
        terms.denialHoldsSeconds,
        storableOrNull(state.agreed),
      ],
    );
    const [question] = written.rows;
    if (question === undefined) return;
    const { subject } = question;
    if (decision !== undefined) {
      await client.query("update approval_decision set outcome = 'taken' where id = $1", [decision]);
    }
    if (end?.grant !== undefined) await leaveGrant(client, id, end.grant, end.by);
    await client.query('insert into audit (subject, actor, action, reason, detail) values ($1, $2, $3, $4, $5)', [
      ...[subject, storable(change.actor), change.action, storable(change.reason)],
      storableJson({ approval: id, ...(end === undefined ? {} : { verified: end.verified }) }),
    ]);
    const type = end === undefined ? TOLD[change.action] : 'approval.decided';
    if (type !== undefined) {
      await tellWebhooks(client, [approvalEvent(type, end?.at ?? question.now, question, state, terms)]);
    }
    await client.query("select pg_notify('surety', 'approval:' || $1)", [id]);
    if (end?.grant !== undefined) await tellGates(client, [id]);
  });
}

/** Who it is for is taken from the question; what it covers, from the decision. */
async function leaveGrant(
  client: pg.PoolClient,
  approval: string,
  terms: GrantTerms,
  by: string | null,
): Promise<void> {
  const { kind, until, pattern } = terms;
  await client.query(
    `insert into approval_grant (id, approval, subject, kind, covers, pattern, scope, agent, session, digest, definition,
       until, given_by)
     select a.id, a.id, a.subject, $2, $3, $4, a.scope, a.agent,
       case when $2 in ('once', 'session') then a.session end, coalesce(a.edit_digest, a.digest), a.definition,
       to_timestamp($5::float8 / 1000), $6
     from approval a where a.id = $1 on conflict (id) do nothing`,
    [approval, kind, coveredBy(terms), pattern === undefined ? null : storableJson(pattern), until ?? null, by],
  );
}

export interface Refusal {
  readonly approval: string;
  readonly decision?: string;
  readonly by: string;
  readonly because: string;
}

/**
 * Says to whoever decided why nothing came of it. A signal may name any decision: that of another question is left alone,
 * and that it was named is noted with this one.
 */
export async function refuseDecision(pool: pg.Pool, { approval, decision, by, because }: Refusal): Promise<void> {
  await pool.query(
    `with refused as (
       update approval_decision set outcome = 'refused', because = $3
       where id = $2 and approval = $1 and outcome is null returning id
     ), noted as (
       insert into audit (subject, actor, action, reason, detail)
       select subject, $4, 'decision refused', $3, jsonb_build_object('approval', id) from approval
       where id = $1 and (exists (select 1 from refused)
         or not exists (select 1 from approval_decision d where d.id = $2 and d.approval = $1))
     )
     select pg_notify('surety', 'approval:' || $1)`,
    [approval, decision ?? null, storable(because), storable(by)],
  );
}

/** Whether somebody's bare word counts: only until it can be known who speaks, and not again once all tokens have ended. */
export async function bareSignalsCount(pool: pg.Pool): Promise<boolean> {
  const found = await pool.query<{ none: boolean }>('select not exists (select 1 from token) as none');
  return found.rows[0]?.none ?? false;
}

/**
 * Forgets what was decided long ago, together with arguments, decisions and grants that can no longer be used. What a person
 * has granted for always is kept as long as it holds.
 */
export async function pruneApprovals(pool: pg.Pool, retentionDays: number): Promise<void> {
  await pool.query(
    `with old as materialized (
       select a.id from approval a left join approval_grant g on g.approval = a.id
       where a.ended_at < clock_timestamp() - $1::int * interval '1 day'
         and coalesce(a.holds_until < clock_timestamp(), true)
         and (g.id is null or g.revoked_at is not null or g.consumed_by is not null or g.until < clock_timestamp())
       limit 10000
     ), grants as (delete from approval_grant where approval in (select id from old))
     delete from approval where id in (select id from old)`,
    [retentionDays],
  );
  await pool.query("delete from idempotency where at < clock_timestamp() - interval '1 day'");
}

/** Decisions that were made in time and of which the workflow has not heard yet. */
export async function unheardDecisions(pool: pg.Pool, approval: string): Promise<readonly string[]> {
  const found = await pool.query<{ id: string }>(
    `select d.id from approval_decision d join approval a on a.id = d.approval
     where d.approval = $1 and d.outcome is null and d.at < a.expires_at order by d.id`,
    [approval],
  );
  return found.rows.map(({ id }) => id);
}

function storableOrNull(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : storable(text);
}
