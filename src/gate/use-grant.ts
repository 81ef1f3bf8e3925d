import { mayUse } from '../domain/approval/grant.ts';
import type { Grant } from '../domain/approval/grant.ts';
import { heldBy } from '../domain/gate/decision.ts';
import { scopesOf } from '../domain/key/scope.ts';
import { argumentsDigest } from '../domain/outcome/digest.ts';
import { isForGrants } from './grants.ts';
import type { ToolGate } from './tool-gate.ts';

/** A call that wants to run under a grant, as far as whoever makes it says what it is. */
export interface UsingCall {
  readonly agent: string | undefined;
  readonly args?: unknown;
  readonly digest?: string | undefined;
  readonly scope?: string | undefined;
  readonly session?: string | undefined;
  readonly definition?: string | undefined;
}

const NOTHING = { heldSince: 0, isSecurity: false, state: null };

export type Use = { readonly digest: string } | { readonly refused: string };

/**
 * Whether a grant answers a call by what is held now. Arguments that are left out are those a person was asked about; what
 * else is left out is theirs, too, but only then. A session that was granted has to be named.
 */
export function useOf(tool: ToolGate, grant: Grant, call: UsingCall, now: number): Use {
  const { agent, args } = call;
  const asked = grant.replaces ?? grant.digest;
  const digest = args === undefined ? (call.digest ?? asked) : argumentsDigest(args);
  const isAsked = digest === asked;
  // A digest alone does not say what a call concerns, and so not what is held against it.
  if (args === undefined && !isAsked)
    return { refused: 'it was asked about another: say which this is, with its args' };
  const asAsked = args === undefined && grant.scope !== null ? [grant.scope] : [];
  const scopes = [...asAsked, ...scopesOf(tool.name, args, call.scope)];
  const decision = tool.withoutGrants(agent, scopes);
  if (decision.decision === 'deny') return { refused: decision.because };
  if (decision.decision === 'ask' && !isAsked && !isForGrants(decision)) return { refused: decision.because };
  const isOurs = mayUse(grant, {
    ...{ agent, scopes, args, now, digest: () => digest },
    session: call.session ?? (grant.kind === 'once' ? (grant.session ?? undefined) : undefined),
    definition: call.definition ?? (isAsked ? (grant.definition ?? undefined) : undefined),
    held: decision.decision === 'ask' ? heldBy(decision) : NOTHING,
  });
  if (isOurs) return { digest };
  return { refused: decision.decision === 'ask' ? decision.because : 'it was given for another call' };
}
