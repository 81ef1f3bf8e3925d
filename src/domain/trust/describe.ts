import type { RuleView } from '../rules/resolve.ts';
import { LOCAL } from './entry.ts';
import type { Parts, Subject } from './parts.ts';
import { agentOfPart, nextDue, ruleOfPart, scopeOfPart, strictest, WHOLE } from './parts.ts';
import { duration, plural } from './tally.ts';
import { dueAt } from './transition.ts';
import type { TrustState } from './trust.ts';

export function nameOf({ kind, server, name }: Subject): string {
  if (kind === 'server') return `server ${server}`;
  return server === LOCAL ? name : `${server}/${name}`;
}

/** "for api.example.com", "for program git, as seen by agent a1"; empty for the whole. */
export function partLabel(part: string): string {
  const scope = scopeOfPart(part);
  const [kind, ...rest] = scope.split(':');
  const what = scope === WHOLE ? '' : kind === 'host' ? `for ${rest.join(':')}` : `for ${scope.replace(':', ' ')}`;
  const agent = agentOfPart(part);
  const seen = agent === undefined ? '' : `as seen by ${agent === '' ? 'an unnamed agent' : `agent ${agent}`}`;
  return [what, seen].filter((text) => text !== '').join(', ');
}

export function labelOf(subject: Subject, part: string): string {
  return [nameOf(subject), partLabel(part)].filter((text) => text !== '').join(' ');
}

export function reasonOf(state: TrustState): string {
  return state.status === 'TRUSTED' ? '' : state.reason;
}

/** What one line can say of the strictest part. */
export function headline(subject: Subject, parts: Parts): string {
  const { part, state } = strictest(parts);
  return state.status === 'TRUSTED'
    ? `${nameOf(subject)} is TRUSTED`
    : `${labelOf(subject, part)} is ${state.status}: ${state.reason}`;
}

export function dueOf(subject: Subject, parts: Parts, rules: RuleView): { at: number; what: string } | undefined {
  const due = nextDue(subject, parts, rules);
  if (due === undefined) return undefined;
  const ends = parts[due.part]?.status === 'BLOCKED' ? 'block' : 'escalation';
  return { at: due.at, what: `${ends} of ${labelOf(subject, due.part)} ends` };
}

/** What an operator reads in Temporal UI: a narrow column, so a list and no table. Times are UTC, to the second. */
export function detailsOf(subject: Subject, parts: Parts, rules: RuleView, rejected: number): string {
  const inDoubt = Object.entries(parts).filter(([, state]) => state.status !== 'TRUSTED');
  const { level, pattern, rule } = rules.own;
  return [
    `## ${plain(headline(subject, parts))}`,
    '',
    ...inDoubt.slice(0, 50).map(([part, state]) => itemOf(subject, part, state, rules)),
    ...(inDoubt.length > 50 ? [`- …and ${inDoubt.length - 50} more`] : []),
    ...(inDoubt.length === 0 ? ['Nothing is held against it.'] : []),
    '',
    `Rule: ${level}${pattern === undefined ? '' : ` \`${plain(pattern)}\``} (rules version ${rules.version}), ` +
      `window ${duration(rule.windowSeconds)}, ${rule.successCountToRecover} successes to recover` +
      `${rule.enforce ? '' : ', shadow mode: nothing is held'}.`,
    ...(rejected === 0 ? [] : ['', `${rejected} reports could not be understood and were left out.`]),
  ].join('\n');
}

function itemOf(subject: Subject, part: string, state: TrustState, rules: RuleView): string {
  const rule = ruleOfPart(subject, rules, part);
  const since = state.status === 'TRUSTED' ? '' : ` since ${clock(state.since)}`;
  const next = nextStep(state, dueAt(state, rule), rule.successCountToRecover);
  return `- **${plain(partLabel(part) || 'all calls')}**: ${state.status}${since}. ${plain(reasonOf(state))}. Next: ${next}.`;
}

export function nextStep(state: TrustState, due: number | undefined, successesToRecover: number): string {
  switch (state.status) {
    case 'TRUSTED':
      return '';
    case 'ESCALATED':
      return due === undefined ? 'a person: `surety recover`' : `escalation ends ${clock(due)}`;
    case 'RECOVERING':
      return `${plural(successesToRecover - state.successes, 'more success', 'more successes')} (${state.successes} of ${successesToRecover})`;
    case 'BLOCKED':
      return due === undefined ? 'a person: `surety reset`' : `the block ends ${clock(due)}`;
  }
}

export function clock(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Names are anybody's text: no Markdown of theirs may end up in ours. */
export function plain(text: string): string {
  return text.replace(/[|`<>[\]\n\r]/g, ' ').slice(0, 200);
}
