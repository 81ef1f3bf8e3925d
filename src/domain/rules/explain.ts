import { matchesGlob } from '../key/glob.ts';
import { ruleForScope, viewForServer, viewForTool } from './resolve.ts';
import type { RuleLevel } from './resolve.ts';
import type { ApprovalTerms, Rule, Rules } from './rules.schema.ts';
import type { Subject } from '../trust/parts.ts';
import { duration, plural } from '../trust/tally.ts';

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
    ...(rule.countThreshold === null ? [] : [`${plural(rule.countThreshold, 'failure')} in ${window}`]),
    ...(rule.consecutiveThreshold === null ? [] : [`${plural(rule.consecutiveThreshold, 'failure')} in a row`]),
    ...(rule.rateThreshold === null
      ? []
      : [`${Math.round(rule.rateThreshold * 100)} % of at least ${plural(rule.minSamples, 'call')} in ${window}`]),
  ];
  const { reachability } = rule;
  const outOfReach = `${plural(reachability.countThreshold, 'failure')} to reach it in ${duration(reachability.windowSeconds)}`;
  const escalates = kind === 'server' ? outOfReach : triggers.join(', or ') || 'nothing but credentials and security';
  const successes = plural(rule.successCountToRecover, 'success', 'successes');
  return [
    `Escalates on ${escalates}.`,
    ...(kind === 'server' ? [] : [`Counts ${rule.severityFilter.join(', ') || 'no severity'}.`]),
    rule.autoRecovery
      ? `Tried again ${duration(rule.escalationDurationSeconds)} after it began and ${duration(rule.cooldownSeconds)} after the last failure; ${successes} ${rule.successCountToRecover === 1 ? 'restores' : 'restore'} trust.`
      : `Recovery takes an order (surety recover), then ${successes}.`,
    rule.blockAfter === null
      ? 'Failures while escalated never block it.'
      : `${plural(rule.blockAfter, 'more failure')} while escalated ${rule.blockAfter === 1 ? 'blocks' : 'block'} it.`,
    `Risk ${rule.risk}.${rule.enforce ? '' : ' Shadow mode: everything is recorded, nothing is held.'}`,
    ...approvalInWords(rule.approval),
  ];
}

/** Who is asked about a call that is held, for how long, and what it takes. */
function approvalInWords(terms: ApprovalTerms): string[] {
  const { approvers, remindAt, denialHoldsSeconds } = terms;
  const [first = 'whoever may approve', ...others] = approvers.map(anyOf);
  const ladder = others.map((level, index) => {
    const after = duration((index + 1) * terms.nextApproverAfterSeconds);
    return `, after ${after} ${level}, too`;
  });
  const shares = remindAt.toSorted((a, b) => a - b).map((share) => `${Math.round(share * 100)} %`);
  const reminded = shares.length === 0 ? '' : `, with a reminder after ${shares.join(' and ')} of that time`;
  return [
    `Where it asks, ${first} decides${ladder.join('')}.`,
    `A question expires after ${duration(terms.expiresAfterSeconds)}${reminded}.`,
    ...(denialHoldsSeconds === 0 ? [] : [`A denial answers the same question for ${duration(denialHoldsSeconds)}.`]),
    ...(terms.twoForSecurity ? ['Two people must agree where a security concern is held against the call.'] : []),
    ...(terms.selfApproval ? ['Whoever asked may decide, too.'] : []),
    ...(terms.unverified ? ['A bare Temporal signal decides, too, whoever sent it.'] : []),
  ];
}

function anyOf(names: readonly string[]): string {
  return names.length === 1 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`;
}
