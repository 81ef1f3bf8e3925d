import type pg from 'pg';
import type { ApprovalState } from '../domain/approval/approval.ts';
import { stillAnswers } from '../domain/approval/earlier.ts';
import type { Earlier } from '../domain/approval/earlier.ts';
import { identityOf } from '../domain/approval/identity.ts';
import type { ApprovalTerms } from '../domain/rules/rules.schema.ts';
import { approvalEvent } from '../domain/webhook/event.ts';
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
  readonly state: string | undefined;
  readonly isSecurity: boolean;
  readonly risk: string;
  readonly terms: ApprovalTerms;
  /** When what is held against the tool began, by the database's clock; 0 where nothing is. */
  readonly heldSince: number;
}

/** A question and what has become of it, as whoever asked sees it. An approval's grant has the id of its question. */
export interface Asked {
  readonly id: string;
  readonly status: ApprovalState['status'];
  readonly by: string | null;
  readonly reason: string | null;
  readonly expiresAt: number;
}

/** Beyond this nobody reads them, and a row must stay small. */
const LARGEST_ARGUMENTS = 1_000_000;

/**
 * Finds the question or asks it. The same call of the same agent in the same session meets the question it asked before,
 * open or decided, also after a restart or days later. Askers of one question take turns, so it is asked once.
 */
export async function askForApproval(pool: pg.Pool, asking: Asking): Promise<Asked> {
  const identity = identityOf(asking);
  return inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 11))', [identity]);
    const earlier = await findEarlier(client, identity, asking.callId);
    if (earlier?.status === 'pending' && isAboutSomethingElse(earlier, asking)) {
      await withdraw(client, earlier.id);
      return ask(client, identity, earlier.ordinal + 1, asking);
    }
    if (earlier !== undefined && stillAnswers(earlier, { ...asking, id: asking.callId, now: earlier.now })) {
      // The storm of one question is one question with a count.
      if (earlier.status === 'pending') {
        await client.query('update approval set asked = asked + 1 where id = $1', [earlier.id]);
      }
      return earlier;
    }
    return ask(client, identity, (earlier?.ordinal ?? 0) + 1, asking);
  });
}

const ASKED = `a.id, a.status, a.ended_by as by, a.end_reason as reason,
  extract(epoch from a.expires_at)::float8 * 1000 as "expiresAt"`;

/** What became of some questions. */
export async function readAsked(pool: pg.Pool, ids: readonly string[]): Promise<readonly Asked[]> {
  const found = await pool.query<Asked>(`select ${ASKED} from approval a where a.id = any($1)`, [ids]);
  return found.rows;
}

type Found = Asked &
  Earlier & {
    readonly ordinal: number;
    readonly now: number;
    readonly askedAt: number;
    readonly definition: string | null;
    readonly isSecurity: boolean;
  };

/** Clocks of a process and the database may differ by this much. */
const SKEW_MS = 5000;

/** Whoever decides about an open question must have been told what is held now: it is asked anew where that has changed. */
function isAboutSomethingElse(earlier: Found, { heldSince, definition, isSecurity }: Asking): boolean {
  return (
    earlier.askedAt + SKEW_MS < heldSince ||
    earlier.isSecurity !== isSecurity ||
    (definition !== undefined && earlier.definition !== definition)
  );
}

async function withdraw(client: pg.PoolClient, approval: string): Promise<void> {
  await client.query(
    `insert into approval_decision (id, approval, verb, by, reason)
     values ($1, $2, 'withdraw', 'surety', 'what is held against it has changed')`,
    [newOutcomeId(), approval],
  );
}

/** The one that let this very call through before, or else the latest. */
async function findEarlier(client: pg.PoolClient, identity: string, callId: string): Promise<Found | undefined> {
  const found = await client.query<Found>(
    `select a.id, max(a.ordinal) over () as ordinal, a.status, a.ended_by as by, a.end_reason as reason,
       extract(epoch from a.expires_at)::float8 * 1000 as "expiresAt",
       extract(epoch from a.asked_at)::float8 * 1000 as "askedAt", a.definition, a.is_security as "isSecurity",
       extract(epoch from a.holds_until)::float8 * 1000 as "holdsUntil",
       extract(epoch from clock_timestamp())::float8 * 1000 as now,
       case when g.id is not null then json_build_object('kind', g.kind, 'consumedBy', g.consumed_by,
         'givenAt', extract(epoch from g.given_at) * 1000, 'until', extract(epoch from g.until) * 1000,
         'isRevoked', g.revoked_at is not null,
         'hasRun', exists (select 1 from ledger l where l.id = g.consumed_by)) end as grant
     from approval a left join approval_grant g on g.approval = a.id
     where a.identity = $1 order by coalesce(g.consumed_by = $2, false) desc, a.ordinal desc limit 1`,
    [identity, callId],
  );
  return found.rows[0];
}

async function ask(client: pg.PoolClient, identity: string, ordinal: number, asking: Asking): Promise<Asked> {
  const { terms } = asking;
  const asked = await client.query<Asked & { askedAt: number }>(
    `insert into approval as a (id, identity, ordinal, subject, server, tool, scope, agent, owner, session, digest,
       arguments, definition, because, state, is_security, risk, terms, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
       clock_timestamp() + $19::int * interval '1 second')
     returning ${ASKED}, extract(epoch from a.asked_at)::float8 * 1000 as "askedAt"`,
    [
      ...[newOutcomeId(), identity, ordinal, asking.subject, asking.server, asking.tool],
      ...[asking.scope, asking.agent, asking.owner, asking.session, asking.digest, argumentsOf(asking.args)],
      ...[asking.definition, asking.because, asking.state, asking.isSecurity, asking.risk],
      ...[storableJson(terms), terms.expiresAfterSeconds],
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
  await client.query("select pg_notify('surety_bell', ''), pg_notify('surety', 'approval:' || $1)", [question.id]);
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
