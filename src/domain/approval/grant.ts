import { matchesGlob } from '../key/glob.ts';
import { partLabel } from '../trust/describe.ts';
import { isAbout } from './about.ts';
import type { AskedAbout, HeldNow } from './about.ts';
import { sessionName } from './session.ts';

/** How long an approval answers, and for what. Everything that is left out is as wide as it can be. */
export interface GrantTerms {
  readonly kind: 'once' | 'session' | 'until' | 'always';
  /** Epoch milliseconds; with `until`. */
  readonly until?: number;
  /** What besides the very call: the scope it was asked for, or any call of the tool. Without it the arguments must match. */
  readonly covers?: 'arguments' | 'scope' | 'tool';
  /** By argument name a glob that its value must match; every one of them. `\*` is a star that was asked about. */
  readonly pattern?: Readonly<Record<string, string>>;
}

/** What an approval leaves behind. */
export interface Grant extends GrantTerms {
  readonly id: string;
  readonly toolKey: string;
  readonly givenAt: number;
  readonly by: string | null;
  readonly agent: string | null;
  readonly session: string | null;
  readonly scope: string | null;
  /** What the person was told is held. */
  readonly about: AskedAbout;
  /** Of the arguments that were approved. */
  readonly digest: string;
  /** Of the arguments that were asked about, where the person has put others in their place. */
  readonly replaces: string | null;
  /** Of the tool's definition, where it was known. */
  readonly definition: string | null;
}

/** A call that would otherwise be held. */
export interface HeldCall {
  readonly agent: string | undefined;
  readonly session: string | undefined;
  /** All that it concerns. */
  readonly scopes: readonly string[];
  readonly definition: string | undefined;
  readonly args: unknown;
  /** Taken only if it comes to that: it costs more than all else here. */
  readonly digest: () => string;
  readonly now: number;
  readonly held: HeldNow;
}

/** A grant answers what its question was about, for the definition it was asked about, and no call that a person has changed. */
export function answers(grant: Grant, call: HeldCall): boolean {
  if (!isGivenTo(grant, call)) return false;
  if (grant.pattern !== undefined && !matchesPattern(grant.pattern, call.args)) return false;
  if (grant.replaces !== null && grant.replaces === call.digest()) return false;
  switch (coveredBy(grant)) {
    case 'tool':
      return true;
    case 'scope':
      return coversScopes(grant.scope, call.scopes);
    case 'arguments':
      return grant.digest === call.digest();
  }
}

/**
 * Whether a call may run under a grant that it names. The very call that a person was asked about may, with whatever was
 * put in the place of its arguments; any other only where the gate would say so itself.
 */
export function mayUse(grant: Grant, call: HeldCall): boolean {
  if (call.digest() !== (grant.replaces ?? grant.digest)) return answers(grant, call);
  return isGivenTo(grant, call);
}

/** What any grant asks of a call, whatever its arguments. */
function isGivenTo(grant: Grant, call: HeldCall): boolean {
  if (!isAbout(grant.about, call.held)) return false;
  if (grant.until !== undefined && call.now >= grant.until) return false;
  if (grant.agent !== (call.agent ?? null)) return false;
  if (!isOfSession(grant, call.session)) return false;
  return grant.definition === (call.definition ?? null);
}

/** All of them: what is held against one is not answered by what was granted for another. */
function coversScopes(granted: string | null, scopes: readonly string[]): boolean {
  return granted === null ? scopes.length === 0 : scopes.length > 0 && scopes.every((scope) => scope === granted);
}

/** Where arguments are matched by a pattern they need not be the same. */
export function coveredBy({ covers, pattern }: GrantTerms): 'arguments' | 'scope' | 'tool' {
  return covers ?? (pattern === undefined ? 'arguments' : 'tool');
}

/** A session without a name is none that could be come back to. */
function isOfSession({ kind, session }: Grant, given: string | undefined): boolean {
  const calls = given === undefined ? undefined : sessionName(given);
  if (kind === 'session') return session !== null && session === calls;
  return kind !== 'once' || session === (calls ?? null);
}

/** A path that climbs is not where it begins. */
const CLIMBS = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\]|%2f|%5c|$)/i;

/** Readers of addresses leave these out, so that `.` and `.` meet. */
const CONTROL = /\p{Cc}/u;

/** Only text and numbers can be matched: a glob says nothing about what is inside an object. */
export function matchesPattern(pattern: Readonly<Record<string, string>>, args: unknown): boolean {
  if (typeof args !== 'object' || args === null) return false;
  return Object.entries(pattern).every(([name, glob]) => {
    const value = Object.hasOwn(args, name) ? (args as Record<string, unknown>)[name] : undefined;
    if (typeof value !== 'string' && typeof value !== 'number') return false;
    const text = String(value);
    return !CLIMBS.test(text) && !CONTROL.test(text) && matchesGlob(glob, text, { escapes: true });
  });
}

/** What a person gives, in words, before it is given. */
export function coverage(
  { kind, until, covers, pattern }: GrantTerms,
  tool: string,
  scope: string | null,
  when = (at: number) => new Date(at).toISOString(),
): string {
  const what =
    pattern !== undefined
      ? `${tool} where ${Object.entries(pattern)
          .map(([name, glob]) => `${name} matches ${glob}`)
          .join(' and ')}`
      : covers === 'tool'
        ? `any call of ${tool}`
        : covers === 'scope'
          ? `${tool} ${scope === null ? 'for calls without a scope' : partLabel(scope)}`
          : `${tool} with these arguments`;
  switch (kind) {
    case 'once':
      return `${what}, once`;
    case 'session':
      return `${what}, in this session`;
    case 'until':
      return `${what}, until ${when(until ?? 0)}`;
    case 'always':
      return `${what}, until it is revoked`;
  }
}
