import type pg from 'pg';
import type { AskedAbout, HeldNow } from '../domain/approval/about.ts';
import type { ApprovalState } from '../domain/approval/approval.ts';
import { stillAnswers } from '../domain/approval/earlier.ts';
import type { Earlier } from '../domain/approval/earlier.ts';
import { identityOf } from '../domain/approval/identity.ts';
import { isSamePerson } from '../domain/approval/person.ts';
import { sessionName } from '../domain/approval/session.ts';
import { tooManyOf } from '../domain/approval/too-many-questions.ts';
import type { ApprovalTerms } from '../domain/rules/rules.schema.ts';
import { approvalEvent } from '../domain/webhook/event.ts';
import { HAS_RUN } from './has-run.ts';
import { newOutcomeId } from './outcome-id.ts';
import { inTransaction } from './pool.ts';
import { storableJson } from './text.ts';
import { tellWebhooks } from './webhook-outbox.ts';

/** A call that a person is to decide about. */
export interface Asking {
  readonly subject: number;
  readonly toolKey: string;
  readonly server: string;
  readonly tool: string;
  readonly scope: string | undefined;
  readonly agent: string | undefined;
  /** The person behind the agent, who cannot decide about its calls; where a token says who that is. */
  readonly owner: string | undefined;
  readonly session: string | undefined;
  /** As the ledger knows it. */
  readonly callId: string;
  readonly digest: string;
  readonly args: unknown;
  readonly definition: string | undefined;
  readonly because: string;
  readonly held: HeldNow;
  readonly risk: string;
  readonly terms: ApprovalTerms;
  /** So many open questions the agent may have. */
  readonly mostOpen: number;
}

/** A question and what has become of it, as whoever asked sees it. An approval's grant has the id of its question. */
export interface Asked {
  readonly id: string;
  readonly status: ApprovalState['status'];
  readonly by: string | null;
  readonly reason: string | null;
  readonly expiresAt: number;
  readonly about: AskedAbout;
}

/** Beyond this nobody reads them, and a row must stay small. */
const LARGEST_ARGUMENTS = 1_000_000;

/**
 * Finds the question or asks it. The same call of the same agent in the same session meets the question it asked before,
 * open or decided, also after a restart or days later. Askers of one question take turns, so it is asked once. Throws
 * TooManyQuestions where it would be one more than the agent may have open.
 */
export async function askForApproval(pool: pg.Pool, given: Asking): Promise<Asked> {
  const asking = { ...given, session: given.session === undefined ? undefined : sessionName(given.session) };
  const identity = identityOf(asking);
  return inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 11))', [identity]);
    const known = await findEarlier(client, identity, asking.callId);
    const answers = (found: Found) => stillAnswers(found, { ...asking, id: asking.callId, now: found.now });
    const [latest] = known;
    // The one that let this very call through before, as long as it does; else the latest.
    const earlier = known.find((found) => found.grant?.consumedBy === asking.callId && answers(found)) ?? latest;
    if (earlier === undefined) return ask(client, identity, 1, asking);
    if (earlier.status === 'pending') {
      // The storm of one question is one question with a count.
      if (answers(earlier)) {
        await client.query('update approval set asked = asked + 1 where id = $1', [earlier.id]);
        return earlier;
      }
      // Whoever decides about an open question must have been told what is held now.
      await withdrawQuestions(client, [earlier.id], 'what is held against it has changed');
    } else if (answers(earlier)) return earlier;
    return ask(client, identity, (latest?.ordinal ?? 0) + 1, asking);
  });
}

/** Exact to the millisecond, since it is compared with times that are. */
export const ABOUT = `json_build_object('heldUntil', (extract(epoch from greatest(a.asked_at, a.held_since)) * 1000)::float8,
  'isSecurity', a.is_security, 'state', a.state) as about`;

const ASKED = `a.id, a.status, a.ended_by as by, a.end_reason as reason,
  extract(epoch from a.expires_at)::float8 * 1000 as "expiresAt", ${ABOUT}`;

/** What became of some questions. */
export async function readAsked(pool: pg.Pool, ids: readonly string[]): Promise<readonly Asked[]> {
  const found = await pool.query<Asked>(`select ${ASKED} from approval a where a.id = any($1)`, [ids]);
  return found.rows;
}

type Found = Asked &
  Earlier & {
    readonly ordinal: number;
    readonly now: number;
  };

/** Takes back questions that nobody needs an answer to any more; each once. */
export async function withdrawQuestions(
  client: pg.Pool | pg.PoolClient,
  approvals: readonly string[],
  reason: string,
): Promise<void> {
  if (approvals.length === 0) return;
  await client.query(
    `with withdrawn as (
       insert into approval_decision (id, approval, verb, by, reason)
       select w.id, w.approval, 'withdraw', 'surety', $3 from unnest($1::uuid[], $2::uuid[]) as w (id, approval)
       where not exists (select 1 from approval_decision d where d.approval = w.approval and d.by = 'surety'
         and d.verb = 'withdraw' and d.outcome is null)
     )
     select pg_notify('surety_bell', '')`,
    [approvals.map(() => newOutcomeId()), approvals, reason],
  );
}

/** Takes back what others have asked for an agent. What somebody has said to it and nobody has heard yet is void. */
export async function withdrawQuestionsOf(
  client: pg.PoolClient,
  { agent, exceptOf }: { readonly agent: string; readonly exceptOf: string },
  reason: string,
): Promise<void> {
  const open = await client.query<{ id: string; owner: string | null }>(
    "select id, owner from approval where agent = $1 and status = 'pending'",
    [agent],
  );
  const others = open.rows.filter(({ owner }) => owner === null || !isSamePerson(owner, exceptOf)).map(({ id }) => id);
  await client.query(
    "update approval_decision set outcome = 'refused', because = $2 where approval = any($1) and outcome is null",
    [others, reason],
  );
  await withdrawQuestions(client, others, reason);
}

/** The latest, and the one that let this very call through before if that is another. */
async function findEarlier(client: pg.PoolClient, identity: string, callId: string): Promise<readonly Found[]> {
  const found = await client.query<Found>(
    `select ${ASKED}, a.ordinal,
       extract(epoch from a.holds_until)::float8 * 1000 as "holdsUntil",
       extract(epoch from clock_timestamp())::float8 * 1000 as now,
       case when g.id is not null then json_build_object('kind', g.kind, 'consumedBy', g.consumed_by,
         'until', extract(epoch from g.until) * 1000,
         'isRevoked', g.revoked_at is not null,
         'hasRun', ${HAS_RUN}) end as grant
     from approval a left join approval_grant g on g.approval = a.id
     where a.identity = $1 and (g.consumed_by = $2 or a.ordinal = (select max(ordinal) from approval where identity = $1))
     order by a.ordinal desc`,
    [identity, callId],
  );
  return found.rows;
}

/** A clock may be ahead of the database's; what begins later than this was not known to whoever asked. */
const MOST_AHEAD = `clock_timestamp() + interval '5 seconds'`;

/** Taken in turns by the agent's own calls; what is asked anew takes the place of what was asked before. */
async function refuseTooMany(client: pg.PoolClient, identity: string, { agent, mostOpen }: Asking): Promise<void> {
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 13))', [agent ?? '']);
  const open = await client.query<{ count: number }>(
    `select count(*) from approval where status = 'pending' and coalesce(agent, '') = $1 and identity <> $2`,
    [agent ?? '', identity],
  );
  if ((open.rows[0]?.count ?? 0) >= mostOpen) throw tooManyOf(agent, mostOpen);
}

async function ask(client: pg.PoolClient, identity: string, ordinal: number, asking: Asking): Promise<Asked> {
  await refuseTooMany(client, identity, asking);
  const { terms } = asking;
  const asked = await client.query<Asked & { askedAt: number }>(
    `insert into approval as a (id, identity, ordinal, subject, server, tool, scope, agent, owner, session, digest,
       arguments, definition, because, state, is_security, risk, terms, expires_at, held_since, arguments_length)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
       clock_timestamp() + $19::int * interval '1 second',
       case when $20::float8 > 0 then least(to_timestamp($20 / 1000), ${MOST_AHEAD}) end, octet_length($12::jsonb::text))
     returning ${ASKED}, extract(epoch from a.asked_at)::float8 * 1000 as "askedAt"`,
    [
      ...[newOutcomeId(), identity, ordinal, asking.subject, asking.server, asking.tool],
      ...[asking.scope, asking.agent, asking.owner, asking.session, asking.digest, argumentsOf(asking.args)],
      ...[asking.definition, asking.because, asking.held.state, asking.held.isSecurity, asking.risk],
      ...[storableJson(terms), terms.expiresAfterSeconds, asking.held.heldSince],
    ],
  );
  const [question] = asked.rows;
  if (question === undefined) throw new Error('the question was not written');
  const { id, status, expiresAt } = question;
  const { server, tool, scope = null, agent = null, because, risk } = asking;
  const told = { id, server, tool, scope, agent, because, risk };
  await tellWebhooks(client, [
    approvalEvent('approval.asked', question.askedAt, told, { status, level: 0, expiresAt }, terms),
  ]);
  await client.query("select pg_notify('surety_bell', ''), pg_notify('surety', 'approval:' || $1)", [id]);
  return question;
}

/** Null for what has no JSON or is too large to be read: then only the summary is shown. */
function argumentsOf(args: unknown): string | null {
  try {
    const text = storableJson(args ?? {});
    return text.length > LARGEST_ARGUMENTS ? null : text;
  } catch {
    return null;
  }
}
