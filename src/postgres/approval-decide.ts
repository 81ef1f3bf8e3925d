import type pg from 'pg';
import { KEEP_ITS_FORM, otherKind } from '../domain/approval/edited-kind.ts';
import type { GrantTerms } from '../domain/approval/grant.ts';
import { ANY_MASK, hasLooseMask } from '../domain/approval/loose-mask.ts';
import type { Verb } from '../domain/approval/message.ts';
import { credentialIn } from '../domain/approval/secret-value.ts';
import { shownArguments, unmasked } from '../domain/approval/shown.ts';
import { argumentsDigest } from '../domain/outcome/digest.ts';
import { notShownAsJson } from '../domain/outcome/plain-data.ts';
import { pause } from '../pause.ts';
import { Problem } from '../problem.ts';
import { newOutcomeId } from './outcome-id.ts';
import { storableJson } from './text.ts';

export interface NewDecision {
  readonly approval: string;
  readonly verb: Verb;
  readonly by: string;
  /** The token that says who it is; without one nobody vouches for `by`. */
  readonly token?: string;
  readonly reason: string;
  readonly expectedVersion?: number;
  readonly grant?: GrantTerms;
  readonly extendSeconds?: number;
  /** Arguments to run instead. They are kept here and never travel in a signal. */
  readonly edit?: unknown;
}

/** Writes a decision down and has the workflow told of it; answers its id. */
export async function decide(pool: pg.Pool, decision: NewDecision): Promise<string> {
  const credential = credentialIn(decision.grant?.pattern ?? {});
  if (credential !== undefined)
    throw new DecisionRefused(
      `Everybody who sees the grant would read it: ${credential}.`,
      'Leave that argument out, or put * where the credential is.',
    );
  const id = newOutcomeId();
  const edit = decision.edit === undefined ? undefined : await withSecrets(pool, decision.approval, decision.edit);
  await pool.query(
    `with written as (
       insert into approval_decision (id, approval, verb, by, reason, expected_version, grant_terms, extend_seconds, edit,
         edit_digest, token)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     )
     select pg_notify('surety_bell', '')`,
    [
      ...[id, decision.approval, decision.verb, decision.by, decision.reason, decision.expectedVersion ?? null],
      decision.grant === undefined ? null : storableJson(decision.grant),
      decision.extendSeconds ?? null,
      edit === undefined ? null : storableJson(edit),
      edit === undefined ? null : argumentsDigest(edit),
      decision.token ?? null,
    ],
  );
  return id;
}

/** What cannot be written down as it was said. */
export class DecisionRefused extends Problem {}

/** Whoever edits has not seen the credentials, and so cannot have meant to change them. */
async function withSecrets(pool: pg.Pool, approval: string, edit: unknown): Promise<unknown> {
  // Null is how many languages leave a field out, and would run as no arguments at all.
  if (edit === null)
    throw new DecisionRefused('null is no arguments to run instead.', 'Leave it out to approve what was asked.');
  const found = await pool.query<{ arguments: unknown; digest: string }>(
    'select arguments, digest from approval where id = $1',
    [approval],
  );
  const { arguments: original, digest = '' } = found.rows[0] ?? {};
  const unreadable = notShownAsJson(edit);
  if (unreadable !== undefined)
    throw new DecisionRefused(`Nobody could read these arguments: ${unreadable}.`, 'Give them in fewer levels.');
  const complaint = otherKind(edit, original);
  if (complaint !== undefined) throw new DecisionRefused(complaint, KEEP_ITS_FORM);
  // A mask that stands for nothing would be run.
  if (hasLooseMask(edit, shownArguments(original, digest)))
    throw new DecisionRefused(
      `${ANY_MASK} would run as it is written.`,
      'Leave what is masked where it was, or put in what is meant.',
    );
  return unmasked(edit, original, digest);
}

export type Told = { readonly outcome: 'taken' } | { readonly outcome: 'refused'; readonly because: string };

const LOOK_EVERY_MS = 25;

/** Waits for what the workflow makes of a decision; undefined where it has not said within that time. */
export async function untilTold(pool: pg.Pool, decision: string, withinMs: number): Promise<Told | undefined> {
  const deadline = Date.now() + withinMs;
  while (Date.now() < deadline) {
    await pause(LOOK_EVERY_MS);
    const found = await pool.query<{ outcome: 'taken' | 'refused' | null; because: string | null }>(
      'select outcome, because from approval_decision where id = $1',
      [decision],
    );
    const outcome = found.rows[0]?.outcome;
    if (outcome === 'taken') return { outcome };
    if (outcome === 'refused') return { outcome, because: found.rows[0]?.because ?? 'refused' };
  }
  return undefined;
}
