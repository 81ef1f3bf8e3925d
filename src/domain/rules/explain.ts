import { matchesGlob } from '../key/glob.ts';
import { ruleForScope, viewForServer, viewForTool } from './resolve.ts';
import type { RuleLevel } from './resolve.ts';
import type { Rule, Rules } from './rules.schema.ts';
import type { Subject } from '../trust/parts.ts';
import { duration } from '../trust/tally.ts';

export interface Candidate {
  readonly level: RuleLevel;
  readonly pattern: string | null;
  readonly won: boolean;
  readonly because: string;
}

const KEY_OF = { tool: 'toolRules', domain: 'domainRules', server: 'serverRules', default: 'defaultRule' } as const;

/** As surety.json spells it. */
export function pathOf({ level, pattern }: Pick<Candidate, 'level' | 'pattern'>): string {
  return pattern === null ? KEY_OF[level] : `${KEY_OF[level]}[${JSON.stringify(pattern)}]`;
}

/** Every rule that fits, the one that governs, and why the others do not. The winner is found by the code that applies it. */
export function candidatesFor(rules: Rules, subject: Subject, scope: string | null) {
  const { kind, server, name } = subject;
  const view = kind === 'server' ? viewForServer(rules, 0, server) : viewForTool(rules, 0, server, name);
  const winner = ruleForScope(view, scope ?? '');
  const isWinner = (level: RuleLevel, pattern: string | null) =>
    level === winner.level && (winner.pattern ?? null) === pattern;
  const fitting: { level: RuleLevel; pattern: string | null }[] = [
    ...(kind === 'server' ? [] : fits(rules.toolRules, 'tool', [name, `${server}/${name}`])),
    ...(kind === 'server' || scope?.startsWith('host:') !== true
      ? []
      : fits(rules.domainRules, 'domain', [scope.slice('host:'.length)])),
    ...fits(rules.serverRules, 'server', [server]),
    { level: 'default', pattern: null },
  ];
  const candidates = fitting.map(({ level, pattern }): Candidate => {
    const won = isWinner(level, pattern);
    return { level, pattern, won, because: won ? whyWon(level, pattern) : whyLost(level, winner.level) };
  });
  return { level: winner.level, pattern: winner.pattern ?? null, rule: winner.rule, candidates };
}

function fits(byName: Readonly<Record<string, Rule>>, level: RuleLevel, names: readonly string[]) {
  return Object.keys(byName)
    .map((pattern) => (level === 'domain' ? pattern.toLowerCase() : pattern))
    .filter((pattern) => names.some((name) => pattern === name || matchesGlob(pattern, name)))
    .map((pattern) => ({ level, pattern }));
}

function whyWon(level: RuleLevel, pattern: string | null): string {
  if (pattern === null) return 'no more specific rule fits';
  return `the most specific ${level} rule`;
}

function whyLost(level: RuleLevel, winner: RuleLevel): string {
  if (level === 'default') return 'for what no other rule fits';
  return level === winner ? 'less specific than the one that governs' : `a ${winner} rule goes before a ${level} rule`;
}

/** What a rule means, in sentences. */
export function ruleInWords(rule: Rule, kind: Subject['kind']): string[] {
  const window = duration(rule.windowSeconds);
  const triggers = [
    ...(rule.countThreshold === null ? [] : [`${rule.countThreshold} failures in ${window}`]),
    ...(rule.consecutiveThreshold === null ? [] : [`${rule.consecutiveThreshold} failures in a row`]),
    ...(rule.rateThreshold === null
      ? []
      : [`${Math.round(rule.rateThreshold * 100)} % of at least ${rule.minSamples} calls in ${window}`]),
  ];
  const { reachability } = rule;
  const outOfReach = `${reachability.countThreshold} failures to reach it in ${duration(reachability.windowSeconds)}`;
  const escalates = kind === 'server' ? outOfReach : triggers.join(', or ') || 'nothing but credentials and security';
  return [
    `Escalates on ${escalates}.`,
    ...(kind === 'server' ? [] : [`Counts ${rule.severityFilter.join(', ') || 'no severity'}.`]),
    rule.autoRecovery
      ? `Tried again ${duration(rule.escalationDurationSeconds)} after it began and ${duration(rule.cooldownSeconds)} after the last failure; ${rule.successCountToRecover} successes restore trust.`
      : `Recovery takes an order (surety recover), then ${rule.successCountToRecover} successes.`,
    rule.blockAfter === null
      ? 'Failures while escalated never block it.'
      : `${rule.blockAfter} more failures while escalated block it.`,
    `Risk ${rule.risk}.${rule.enforce ? '' : ' Shadow mode: everything is recorded, nothing is held.'}`,
  ];
}
