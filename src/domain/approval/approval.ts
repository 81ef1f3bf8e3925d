import { coveredBy } from './grant.ts';
import type { GrantTerms } from './grant.ts';
import type { ApprovalTerms } from '../rules/rules.schema.ts';
import { isSamePerson } from './person.ts';

export type ApprovalEnd = 'approved' | 'denied' | 'expired' | 'withdrawn';

/** One question to a person, as its workflow carries it. */
export interface ApprovalState {
  readonly status: 'pending' | ApprovalEnd;
  /** Moves with everything that whoever decides should know of. */
  readonly version: number;
  readonly askedAt: number;
  readonly expiresAt: number;
  /** How many have been told besides the first: an index into the rule's approvers. */
  readonly level: number;
  /** Reminders that were sent. */
  readonly reminders: number;
  /** Who has agreed where two must, and to what. */
  readonly consents: readonly string[];
  readonly agreed?: string;
  /** The earliest end that any of them has set; epoch milliseconds. */
  readonly agreedUntil?: number;
  readonly end?: End;
}

export interface End {
  readonly at: number;
  /** Null where nobody decided: time has. */
  readonly by: string | null;
  readonly reason: string;
  /** Whether it is known who decided; a bare signal may say anything. */
  readonly verified: boolean;
  readonly grant?: GrantTerms;
  /** What to run instead of what was asked for. */
  readonly editDigest?: string;
}

/** What is to be known of a call in order to judge who may decide about it. */
export interface Question {
  readonly agent: string | null;
  /** Whoever the token belongs to that asked. */
  readonly owner: string | null;
  /** Whoever the agent belongs to when somebody decides; absent in decisions from before it was looked up. */
  readonly ownersNow?: readonly string[];
  readonly isSecurity: boolean;
  /** False where its arguments could not be kept to be read. */
  readonly isShown: boolean;
  /** Absent in questions from before it was looked at. */
  readonly hasSession?: boolean;
}

/** Who speaks. Looked up by the worker, never taken from a signal. */
export interface Speaker {
  readonly by: string;
  /** The person behind a token, however many tokens that person has. */
  readonly person: string;
  /** A token says who speaks. Without one `by` is only what somebody wrote. */
  readonly verified: boolean;
  /** An agent's token, whatever other roles it has. */
  readonly isAgent: boolean;
  /** The token allows deciding; or there has never been one, and whoever is on this machine may. */
  readonly mayDecide: boolean;
  /** Written into the ledger by Surety itself, or by the process of the agent that asked. */
  readonly mayWithdraw?: boolean;
  /** A bare signal to a run from before a name had to be proven. */
  readonly isTakenAtItsWord?: boolean;
}

export type Message = { readonly at: number; readonly reason: string; readonly expectedVersion?: number } & (
  | { readonly type: 'approve'; readonly grant: GrantTerms; readonly editDigest?: string }
  | { readonly type: 'deny' }
  | { readonly type: 'extend'; readonly bySeconds: number }
  | { readonly type: 'withdraw' }
);

export interface Step {
  readonly state: ApprovalState;
  /** Why nothing came of a message. */
  readonly refused?: string;
}

/** A person cannot keep a question open for ever. */
const LONGEST_LIFE_MS = 366 * 86_400_000;

export function begin(askedAt: number, terms: ApprovalTerms): ApprovalState {
  return {
    status: 'pending',
    version: 1,
    askedAt,
    expiresAt: askedAt + terms.expiresAfterSeconds * 1000,
    level: 0,
    reminders: 0,
    consents: [],
  };
}

/** What one message makes of a question. A message that changes nothing says why. */
export function receive(
  state: ApprovalState,
  message: Message,
  speaker: Speaker,
  question: Question,
  terms: ApprovalTerms,
): Step {
  const refused = refusalOf(state, message, speaker, question, terms);
  if (refused !== undefined) return { state, refused };
  const { by, verified } = speaker;
  const end = { at: message.at, by, verified, reason: message.reason };
  switch (message.type) {
    case 'extend': {
      const expiresAt = Math.min(state.expiresAt + message.bySeconds * 1000, state.askedAt + LONGEST_LIFE_MS);
      return { state: { ...state, expiresAt, version: state.version + 1 } };
    }
    case 'withdraw':
      return { state: ended(state, 'withdrawn', end) };
    case 'deny':
      return { state: ended(state, 'denied', end) };
    case 'approve': {
      const consents = [...standingConsents(state, message.at), speaker.person];
      if (consents.length < consentsNeeded(question, terms)) {
        const { agreedUntil: _, ...rest } = state;
        const until = message.grant.until === undefined ? {} : { agreedUntil: message.grant.until };
        return { state: { ...rest, consents, agreed: agreementOf(message), ...until, version: state.version + 1 } };
      }
      const { editDigest } = message;
      const grant = consents.length > 1 ? noLongerThan(message.grant, state.agreedUntil) : message.grant;
      return {
        state: {
          ...ended(state, 'approved', { ...end, grant, ...(editDigest === undefined ? {} : { editDigest }) }),
          consents,
        },
      };
    }
  }
}

export function consentsNeeded(
  { isSecurity }: Pick<Question, 'isSecurity'>,
  { twoForSecurity }: ApprovalTerms,
): number {
  return isSecurity && twoForSecurity ? 2 : 1;
}

/** Who may decide by now; empty where anybody may who decides at all. */
export function askedOf({ level }: Pick<ApprovalState, 'level'>, { approvers }: ApprovalTerms): readonly string[] {
  return approvers.slice(0, level + 1).flat();
}

function refusalOf(
  state: ApprovalState,
  message: Message,
  speaker: Speaker,
  question: Question,
  terms: ApprovalTerms,
): string | undefined {
  if (state.status !== 'pending') return tooLate(state);
  if (message.at >= state.expiresAt) return `it has expired at ${new Date(state.expiresAt).toISOString()}`;
  const isNamed = speaker.verified || speaker.isTakenAtItsWord === true;
  const mayDecide = speaker.mayDecide || (!speaker.verified && terms.unverified);
  const hasAsked = [question.agent, question.owner].some((name) => name !== null && isNameOf(speaker, name));
  const isOwner = question.ownersNow?.some((name) => isNameOf(speaker, name)) ?? false;
  const { expectedVersion = state.version } = message;
  const outdated =
    expectedVersion === state.version
      ? undefined
      : `it has changed since version ${expectedVersion}: ${changesOf(state)}`;
  // Whoever asked may take the question back; that decides nothing. Anybody else decides by it.
  if (message.type === 'withdraw' && (speaker.mayWithdraw === true || (hasAsked && isNamed))) return outdated;
  if (speaker.isAgent) return "an agent's token never decides";
  if (!mayDecide) return speaker.verified ? `${speaker.by} may not decide` : UNKNOWN;
  if ((hasAsked || isOwner) && !terms.selfApproval && message.type !== 'withdraw')
    return `${speaker.by} ${hasAsked ? 'has asked' : 'owns the agent'} and cannot decide`;
  const asked = askedOf(state, terms);
  if (asked.length > 0 && !isNamed) return `it is for ${asked.join(', ')} to decide, and ${UNKNOWN}`;
  if (asked.length > 0 && !asked.some((name) => isNameOf(speaker, name)))
    return `${speaker.by} is not among those asked: ${asked.join(', ')}`;
  if (message.type === 'approve' && consentsNeeded(question, terms) > 1 && !isNamed) {
    return `two people have to agree, and ${UNKNOWN}`;
  }
  if (outdated !== undefined) return outdated;
  if (message.type === 'approve' && message.editDigest === undefined && !question.isShown) {
    return 'its arguments are too large to be shown, or no JSON: approve edited ones, or deny it';
  }
  if (message.type === 'approve' && message.grant.kind === 'session' && question.hasSession === false) {
    return 'the call names no session: grant it once, until a time, or always';
  }
  const consents = standingConsents(state, message.at);
  if (message.type === 'approve' && consents.some((person) => isSamePerson(person, speaker.person))) {
    return `${speaker.by} has agreed already; somebody else must, too`;
  }
  if (message.type === 'approve' && consents.length > 0 && state.agreed !== agreementOf(message)) {
    return `${consents.join(', ')} agreed to something else: ${state.agreed}`;
  }
  return undefined;
}

function isNameOf({ by, person }: Speaker, name: string): boolean {
  return isSamePerson(by, name) || isSamePerson(person, name);
}

/** Whoever agreed until a time that is over agrees to nothing any more. */
function standingConsents({ consents, agreedUntil }: ApprovalState, at: number): readonly string[] {
  return agreedUntil !== undefined && agreedUntil <= at ? [] : consents;
}

/** Of two people none has agreed to more than the shorter time. */
function noLongerThan(grant: GrantTerms, until: number | undefined): GrantTerms {
  return grant.until === undefined || until === undefined ? grant : { ...grant, until: Math.min(grant.until, until) };
}

const UNKNOWN =
  'nobody knows who sent this: decide with a token, by `surety approve` or `surety deny`, the API or the console';

/** What two people have to agree on. Of two times the earlier holds: they differ at least by the moment at which each spoke. */
function agreementOf({ grant, editDigest }: Extract<Message, { type: 'approve' }>): string {
  const { kind, pattern = {} } = grant;
  const matched = Object.entries(pattern).sort(([one], [other]) => (one < other ? -1 : 1));
  const what = [kind, coveredBy(grant), ...(matched.length === 0 ? [] : [JSON.stringify(Object.fromEntries(matched))])];
  return [...what, ...(editDigest === undefined ? [] : [`edited arguments ${editDigest}`])].join(', ');
}

/** Says who was first. */
export function tooLate({ status, end }: { readonly status: string; readonly end?: Pick<End, 'at' | 'by'> }): string {
  const by = end?.by === undefined || end.by === null ? '' : ` by ${end.by}`;
  return `it is ${status}${by} since ${new Date(end?.at ?? 0).toISOString()}`;
}

/** For whoever decided on something older. */
function changesOf({ version, expiresAt, level, consents }: ApprovalState): string {
  return [
    `now version ${version}`,
    `expires ${new Date(expiresAt).toISOString()}`,
    ...(level > 0 ? [`the next approvers have been asked`] : []),
    ...(consents.length > 0 ? [`${consents.join(', ')} agreed`] : []),
  ].join(', ');
}

function ended(state: ApprovalState, status: ApprovalEnd, end: End): ApprovalState {
  return { ...state, status, end, version: state.version + 1 };
}

export type Rung = { readonly at: number; readonly what: 'remind' | 'next' | 'expire' };

/** Of a question what its ladder depends on. */
type Standing = Pick<ApprovalState, 'status' | 'askedAt' | 'expiresAt' | 'level' | 'reminders'>;

/** The next moment at which time alone does something, undefined once it is over. */
export function nextRung(state: Standing, terms: ApprovalTerms): Rung | undefined {
  if (state.status !== 'pending') return undefined;
  const rungs: Rung[] = [{ at: state.expiresAt, what: 'expire' }];
  const share = terms.remindAt.toSorted((a, b) => a - b)[state.reminders];
  if (share !== undefined) {
    rungs.push({ at: state.askedAt + Math.round((state.expiresAt - state.askedAt) * share), what: 'remind' });
  }
  if (state.level + 1 < terms.approvers.length) {
    rungs.push({ at: state.askedAt + (state.level + 1) * terms.nextApproverAfterSeconds * 1000, what: 'next' });
  }
  return rungs.reduce((first, rung) => (rung.at < first.at ? rung : first));
}

/** Climbs one rung. */
export function climb(state: ApprovalState, { at, what }: Rung): ApprovalState {
  switch (what) {
    case 'remind':
      return { ...state, reminders: state.reminders + 1 };
    case 'next':
      return { ...state, level: state.level + 1, version: state.version + 1 };
    case 'expire':
      return ended(state, 'expired', { at, by: null, verified: true, reason: 'nobody decided in time' });
  }
}
