import { decide } from '../domain/gate/decide.ts';
import type { Circumstances } from '../domain/gate/decide.ts';
import { stricterDecision } from '../domain/gate/decision.ts';
import type { Allow, Answer, Decision } from '../domain/gate/decision.ts';
import { matchesGlob } from '../domain/key/glob.ts';
import { scopesOf } from '../domain/key/scope.ts';
import { serverKey, toolKey } from '../domain/key/tool-key.ts';
import { LOCAL } from '../domain/trust/entry.ts';
import { WHOLE } from '../domain/trust/parts.ts';
import type { Subject } from '../domain/trust/parts.ts';
import { argumentsDigest } from '../domain/outcome/digest.ts';
import { withDeclaredRisk } from '../domain/rules/resolve.ts';
import type { RuleView } from '../domain/rules/resolve.ts';
import type { Rule } from '../domain/rules/rules.schema.ts';
import type { View } from './view.ts';

export const NOTHING_HELD: Allow = Object.freeze({ decision: 'allow', because: 'nothing is held against it' });

/** `false` means that the application does not allow it by itself: a person is to be asked. With a reason, that is what the person reads. */
export type Permission = Answer | boolean | { readonly decision: Answer; readonly because: string };

export interface CallContext {
  readonly agent?: string;
  readonly session?: string;
  /** Given where the arguments do not say it. Where they do it is judged besides, and the stricter answer holds. */
  readonly scope?: string;
  /** Digest of what the tool says it is: what was granted to another definition, or to none, does not answer the call. */
  readonly definition?: string;
  /** An answer the host application has reached already; the stricter one holds. */
  readonly permission?: Permission | ((args: unknown) => Permission);
}

/** One tool at the gate. Checking it costs a comparison as long as nothing is held against it. */
export class ToolGate {
  readonly server: string;
  readonly name: string;
  readonly key: string;
  readonly serverKey: string;
  readonly #view: View;
  readonly #identity: { readonly agent?: string; readonly session?: string };
  #revision = 0;
  #plain = false;
  #declaredRisk: Rule['risk'] | undefined;
  #circumstances: Omit<Circumstances, 'now'> | undefined;
  /** The entry of the blocklist that denies it always. */
  #blocklisted: string | undefined;

  constructor(view: View, server: string, name: string, identity: { agent?: string; session?: string }) {
    this.server = server;
    this.name = name;
    this.key = toolKey(server, name);
    this.serverKey = serverKey(server);
    this.#view = view;
    this.#identity = identity;
  }

  /** What the tool says it may do at worst. */
  declareRisk(risk: Rule['risk']): void {
    if (risk === this.#declaredRisk) return;
    this.#declaredRisk = risk;
    this.#revision = 0;
  }

  /** The rules that govern it. */
  get rules(): RuleView {
    const found = this.#view.rulesOf({ kind: 'tool', server: this.server, name: this.name });
    return this.#declaredRisk === undefined ? found : withDeclaredRisk(found, this.#declaredRisk);
  }

  /** `asUnknown`: the tool is taken for one of which nothing has been seen, as it was when a person was asked about the call. */
  check(args?: unknown, context?: CallContext, asUnknown = false): Decision {
    if (this.#revision !== this.#view.revision) this.#refresh();
    if (this.#plain && context?.permission === undefined && !asUnknown) return NOTHING_HELD;
    return this.#judge(args, context, asUnknown);
  }

  /** What is to be said of the call, whatever people have granted. */
  withoutGrants(agent: string | undefined, scopes: readonly string[]): Decision {
    if (this.#revision !== this.#view.revision) this.#refresh();
    return this.#ourDecision(this.#agentOf(agent), () => scopes, false);
  }

  #refresh(): void {
    const { situation, settings } = this.#view;
    const tool: Subject = { kind: 'tool', server: this.server, name: this.name };
    const server: Subject = { kind: 'server', server: this.server, name: '' };
    const view = this.rules;
    const ofTool = this.#view.doubt(this.key, tool, view);
    const ofServer =
      this.server === LOCAL ? undefined : this.#view.doubt(this.serverKey, server, this.#view.rulesOf(server));
    const rules = [view.own.rule, ...view.domains.map(({ rule }) => rule)];
    const answersUnknown = rules.some(({ risk }) => settings.rules.situations.unknown[risk] !== 'allow');
    const isKnown = !answersUnknown || this.#view.isKnown(this.key);
    this.#blocklisted = settings.rules.blocklist.find(
      (pattern) => matchesGlob(pattern, this.name) || matchesGlob(pattern, `${this.server}/${this.name}`),
    );
    this.#circumstances = {
      ...(ofTool === undefined ? {} : { tool: ofTool }),
      ...(ofServer === undefined ? {} : { server: ofServer }),
      subject: tool,
      view,
      situations: settings.rules.situations,
      situation,
      isKnown,
    };
    const undoubted = ofTool === undefined && ofServer === undefined;
    this.#plain = undoubted && situation === 'fresh' && isKnown && this.#blocklisted === undefined;
    this.#revision = this.#view.revision;
  }

  #judge(args: unknown, context: CallContext | undefined, asUnknown: boolean): Decision {
    const scopes = () => scopesOf(this.name, args, context?.scope);
    const ours = this.#ourDecision(this.#agentOf(context?.agent), scopes, asUnknown);
    if (context?.permission === undefined) return this.#granted(ours, args, context);
    const { permission } = context;
    const theirs = theirDecision(typeof permission === 'function' ? permission(args) : permission);
    return this.#granted(stricterDecision(ours, theirs), args, context);
  }

  #granted(decision: Decision, args: unknown, context: CallContext | undefined): Decision {
    if (decision.decision !== 'ask') return decision;
    return this.#view.grants.answer(decision, this.key, this.name, {
      agent: this.#agentOf(context?.agent),
      session: context?.session ?? this.#identity.session,
      scopes: scopesOf(this.name, args, context?.scope),
      definition: context?.definition,
      args,
      digest: () => argumentsDigest(args),
      now: Date.now(),
      isFresh: this.#view.situation === 'fresh',
    });
  }

  #agentOf(claimed: string | undefined): string | undefined {
    return this.#view.tokenAgent ?? claimed ?? this.#identity.agent;
  }

  /** `scopes` are read from the arguments only if it comes to that. */
  #ourDecision(agent: string | undefined, scopes: () => readonly string[], asUnknown: boolean): Decision {
    if (this.#circumstances === undefined || (this.#plain && !asUnknown)) return NOTHING_HELD;
    if (this.#blocklisted !== undefined) {
      return { decision: 'deny', because: `the blocklist has ${JSON.stringify(this.#blocklisted)}` };
    }
    const now = Date.now();
    const circumstances = {
      ...this.#circumstances,
      ...(asUnknown ? { isKnown: false } : {}),
      ...(this.#view.trouble === undefined ? {} : { trouble: this.#view.trouble }),
      now,
    };
    const own = agent === undefined ? {} : { agent };
    const [scope = WHOLE, ...others] = scopes();
    const byTrust = others.reduce(
      (strictest, other) => stricterDecision(strictest, decide({ ...own, scope: other }, circumstances)),
      decide({ ...own, scope }, circumstances),
    );
    const { brokenGlassUntil } = this.#view.settings;
    return brokenGlassUntil === null || now >= brokenGlassUntil ? byTrust : lifted(byTrust, brokenGlassUntil);
  }
}

/** What is lifted is still true, and whoever keeps a record wants to know. */
function lifted({ escalation }: Decision, until: number): Decision {
  const because = `break glass until ${new Date(until).toISOString()}`;
  return { decision: 'allow', because, ...(escalation === undefined ? {} : { escalation }) };
}

function theirDecision(given: Permission): Decision {
  const [permission, reason] =
    typeof given === 'object' && (given as unknown) !== null ? [given.decision, given.because] : [given, undefined];
  switch (permission) {
    case true:
    case 'allow':
      return { decision: 'allow', because: reason ?? "the application's own permission says allow" };
    case false:
    case 'ask':
      return { decision: 'ask', via: 'person', because: reason ?? "the application's own permission says ask" };
    case 'deny':
      return { decision: 'deny', because: reason ?? "the application's own permission says deny" };
    default:
      // From JavaScript, or an async function where only `guard` can wait for one: what cannot be read allows nothing.
      return { decision: 'ask', via: 'person', because: "the application's own permission was not understood" };
  }
}
