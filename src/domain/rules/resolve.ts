import { matchesGlob } from '../key/glob.ts';
import { locationOf } from '../key/host.ts';
import { RULE_SHAPE } from './rule.ts';
import type { Rule, Rules } from './rules.schema.ts';

export type RuleLevel = 'tool' | 'domain' | 'server' | 'default';

/** A rule together with the reason it was chosen. */
export interface ResolvedRule {
  readonly rule: Rule;
  readonly level: RuleLevel;
  readonly pattern?: string;
}

/** The part of the rules that can ever govern one tool, as carried by its workflow. */
export interface RuleView {
  readonly version: number;
  /** See RULE_SHAPE. */
  readonly shape: number;
  readonly own: ResolvedRule;
  /** By host pattern. Empty when a tool rule decides, because that wins over any domain. */
  readonly domains: readonly { readonly pattern: string; readonly rule: Rule }[];
}

export function viewForTool(rules: Rules, version: number, server: string, name: string): RuleView {
  const byTool = best(listed(rules.toolRules), [name, `${server}/${name}`]);
  const own = byTool ? resolved('tool', byTool, rules) : serverOrDefault(rules, server);
  const domains = byTool
    ? []
    : Object.entries(rules.domainRules).map(([pattern, rule]) => ({
        pattern: hostPattern(pattern),
        rule: globally(rule, rules),
      }));
  return { version, shape: RULE_SHAPE, own, domains };
}

/** A host is written in many ways, all of which mean the one that scopes are made of; a glob is taken as it is. */
function hostPattern(pattern: string): string {
  if (/[*?]/.test(pattern)) return pattern.toLowerCase();
  const location = locationOf(pattern);
  return location !== undefined && 'host' in location ? location.host : pattern.toLowerCase();
}

export function viewForServer(rules: Rules, version: number, server: string): RuleView {
  return { version, shape: RULE_SHAPE, own: serverOrDefault(rules, server), domains: [] };
}

/** tool > domain > server > default. A rule is taken whole: nothing is inherited from the less specific one. */
export function ruleForScope(view: RuleView, scope: string): ResolvedRule {
  if (view.domains.length === 0 || !scope.startsWith('host:')) return view.own;
  const byDomain = best(view.domains, [scope.slice('host:'.length)]);
  return byDomain ? { rule: byDomain.rule, level: 'domain', pattern: byDomain.pattern } : view.own;
}

const RISKS: readonly Rule['risk'][] = ['read', 'write', 'destructive'];

/**
 * The same rules for a tool that says itself what it may do at worst. Where no rule names the tool, that is its risk; where one
 * does, it cannot take the risk below what the tool says.
 */
export function withDeclaredRisk(view: RuleView, declared: Rule['risk']): RuleView {
  const isNamed = view.own.level === 'tool';
  const withRisk = (rule: Rule): Rule => {
    const isHigher = RISKS.indexOf(rule.risk) > RISKS.indexOf(declared);
    return { ...rule, risk: isNamed && isHigher ? rule.risk : declared };
  };
  const domains = view.domains.map(({ pattern, rule }) => ({ pattern, rule: withRisk(rule) }));
  return { ...view, own: { ...view.own, rule: withRisk(view.own.rule) }, domains };
}

function serverOrDefault(rules: Rules, server: string): ResolvedRule {
  const byServer = best(listed(rules.serverRules), [server]);
  return byServer
    ? resolved('server', byServer, rules)
    : { rule: globally(rules.defaultRule, rules), level: 'default' };
}

function resolved(level: RuleLevel, found: Found, rules: Rules): ResolvedRule {
  return { rule: globally(found.rule, rules), level, pattern: found.pattern };
}

/** The two switches that hold for every rule. They only ever switch off. */
export function globally(rule: Rule, rules: Rules): Rule {
  return {
    ...rule,
    autoRecovery: rule.autoRecovery && rules.enableAutoRecovery,
    enforce: rule.enforce && rules.enforce,
  };
}

interface Found {
  readonly pattern: string;
  readonly rule: Rule;
}

/** An exact name beats a glob; among globs the one with the most literal characters, then the first in the file. */
function best(rules: readonly Found[], names: readonly string[]): Found | undefined {
  let found: Found | undefined;
  let literals = -1;
  for (const candidate of rules) {
    if (names.includes(candidate.pattern)) return candidate;
    if (!/[*?]/.test(candidate.pattern) || !names.some((name) => matchesGlob(candidate.pattern, name))) continue;
    const count = candidate.pattern.replace(/[*?]/g, '').length;
    if (count > literals) [found, literals] = [candidate, count];
  }
  return found;
}

function listed(byName: Readonly<Record<string, Rule>>): readonly Found[] {
  return Object.entries(byName).map(([pattern, rule]) => ({ pattern, rule }));
}
