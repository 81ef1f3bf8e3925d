import type pg from 'pg';
import type { ApprovalState } from '../domain/approval/approval.ts';
import type { GrantTerms } from '../domain/approval/grant.ts';
import { shownArguments } from '../domain/approval/shown.ts';
import type { ApprovalTerms } from '../domain/rules/rules.schema.ts';

/** A question as people see it: no credentials in its arguments, times in epoch milliseconds. */
export interface ShownApproval {
  readonly id: string;
  readonly status: ApprovalState['status'];
  readonly version: number;
  readonly server: string;
  readonly tool: string;
  readonly scope: string | null;
  readonly agent: string | null;
  readonly session: string | null;
  readonly because: string;
  readonly state: string | null;
  /** When the newest of what was held began, as whoever asked knew it. */
  readonly heldSince: number | null;
  readonly isSecurity: boolean;
  readonly risk: string;
  readonly digest: string;
  /** Null where they are too large to be read, or left out. */
  readonly arguments: unknown;
  /** In a list: what is long is to be had with the question alone. */
  readonly isLeftOut: boolean;
  readonly asked: number;
  readonly askedAt: number;
  readonly expiresAt: number;
  readonly level: number;
  readonly reminders: number;
  readonly consents: readonly string[];
  readonly terms: ApprovalTerms;
  readonly endedAt: number | null;
  readonly endedBy: string | null;
  readonly endReason: string | null;
  readonly verified: boolean | null;
  readonly edited: { readonly digest: string; readonly arguments: unknown } | null;
  readonly grant: (GrantTerms & { readonly consumedBy: string | null; readonly revokedAt: number | null }) | null;
}

type Row = Omit<ShownApproval, 'edited'> & { readonly editDigest: string | null; readonly edit: unknown };

const MS = (column: string) => `extract(epoch from ${column})::float8 * 1000`;
/** Of arguments in a list, in bytes: a hundred questions of a megabyte are no list. */
const LONGEST_IN_LIST = 10_000;
const EVERYTHING = 'a.arguments, d.edit, false as "isLeftOut"';
const IN_LIST = `case when a.arguments_length <= ${LONGEST_IN_LIST} then a.arguments end as arguments,
  case when octet_length(d.edit::text) <= ${LONGEST_IN_LIST} then d.edit end as edit,
  coalesce(greatest(a.arguments_length, octet_length(d.edit::text)) > ${LONGEST_IN_LIST}, false) as "isLeftOut"`;

const selecting = (
  what: string,
) => `select a.id, a.status, a.version, a.server, a.tool, a.scope, a.agent, a.session, a.because, a.state,
    (extract(epoch from a.held_since) * 1000)::float8 as "heldSince", a.is_security as "isSecurity", a.risk, a.digest, ${what}, a.asked, ${MS('a.asked_at')} as "askedAt",
    ${MS('a.expires_at')} as "expiresAt", a.level, a.reminders, a.consents, a.terms, ${MS('a.ended_at')} as "endedAt",
    a.ended_by as "endedBy", a.end_reason as "endReason", a.verified, a.edit_digest as "editDigest",
    case when g.id is not null then json_strip_nulls(json_build_object('kind', g.kind, 'covers', g.covers,
      'pattern', g.pattern, 'until', extract(epoch from g.until) * 1000))::jsonb || jsonb_build_object(
      'consumedBy', g.consumed_by, 'revokedAt', extract(epoch from g.revoked_at) * 1000) end as grant
  from approval a left join approval_grant g on g.approval = a.id
    left join lateral (select edit from approval_decision d where d.approval = a.id and d.edit_digest = a.edit_digest
      and d.outcome = 'taken' limit 1) d on true`;

/**
 * Whose questions may be seen: those asked for the agent by a token of its owner. Its name may have been somebody else's
 * before, or an admin may have asked for it: that is not its own.
 */
export interface Asker {
  readonly agent: string;
  /** Every spelling of the one owner. */
  readonly owners: readonly string[];
}

/** Those of one who asks, or all. */
const askedBy = (agent: number, owners: number) =>
  `($${agent}::text is null or (a.agent = $${agent} and a.owner = any($${owners}::text[])))`;
const asking = (asker: Asker | undefined) => [asker?.agent ?? null, asker?.owners ?? null];

/** Open questions, the oldest first, after `after`; of one who asks, or of all. */
export async function readPending(
  pool: pg.Pool,
  limit: number,
  after?: string,
  asker?: Asker,
): Promise<readonly ShownApproval[]> {
  const found = await pool.query<Row>(
    `${selecting(IN_LIST)} where a.status = 'pending' and ($2::uuid is null or a.id > $2)
       and ${askedBy(3, 4)} order by a.id limit $1`,
    [limit, after ?? null, ...asking(asker)],
  );
  return found.rows.map(shown);
}

/** What was decided, the newest decision first, those before `before`; of one who asks, or of all. */
export async function readDecided(
  pool: pg.Pool,
  limit: number,
  before?: string,
  asker?: Asker,
): Promise<readonly ShownApproval[]> {
  const found = await pool.query<Row>(
    `${selecting(IN_LIST)} where a.status <> 'pending' and a.ended_at is not null
       and ($2::uuid is null or (a.ended_at, a.id) < (select b.ended_at, b.id from approval b where b.id = $2))
       and ${askedBy(3, 4)}
     order by a.ended_at desc, a.id desc limit $1`,
    [limit, before ?? null, ...asking(asker)],
  );
  return found.rows.map(shown);
}

/** By id, or by how the id begins or ends: nobody types thirty-six characters. At most two, to tell whether it is one. */
export async function findApprovals(pool: pg.Pool, typed: string): Promise<readonly ShownApproval[]> {
  const part = typed.toLowerCase();
  // What is no part of an id is mistyped, and may not become part of another by leaving something out.
  if (!/^[0-9a-f-]{4,36}$/.test(part)) return [];
  const found = await pool.query<Row>(
    `${selecting(EVERYTHING)} where a.id::text like $1 || '%' or a.id::text like '%' || $1 order by a.status <> 'pending', a.id desc limit 2`,
    [part],
  );
  return found.rows.map(shown);
}

export async function readOne(pool: pg.Pool, id: string, asker?: Asker): Promise<ShownApproval | undefined> {
  const found = await pool.query<Row>(`${selecting(EVERYTHING)} where a.id = $1 and ${askedBy(2, 3)}`, [
    id,
    ...asking(asker),
  ]);
  return found.rows.map(shown)[0];
}

export async function countPending(pool: pg.Pool, asker?: Asker): Promise<number> {
  const found = await pool.query<{ count: number }>(
    `select count(*) from approval a where a.status = 'pending' and ${askedBy(1, 2)}`,
    asking(asker),
  );
  return found.rows[0]?.count ?? 0;
}

function shown({ editDigest, edit, arguments: given, ...row }: Row): ShownApproval {
  return {
    ...row,
    arguments: given === null ? null : shownArguments(given, row.digest),
    // By the same digest: what was left alone looks as it did.
    edited: editDigest === null ? null : { digest: editDigest, arguments: shownArguments(edit, row.digest) },
  };
}
