import type { Answer } from '../gate/decision.ts';
import { agentOfPart, ruleOfPart, scopeOfPart, WHOLE } from '../trust/parts.ts';
import { failuresInWindow, isSpent } from '../trust/tally.ts';
import { dueAt } from '../trust/transition.ts';
import { stricter, TRUSTED } from '../trust/trust.ts';
import type { Status } from '../trust/trust.ts';
import type { Page, Touched } from './book.ts';

/** The state of one server, tool or scope after an event. `dueAt` is in seconds, like `at`. */
export interface Seen {
  readonly server: string;
  readonly tool: string | null;
  readonly scope: string | null;
  readonly state: Status;
  readonly reason: string | null;
  readonly consecutiveFailures: number;
  readonly failuresInWindow: number;
  readonly successes: number;
  readonly dueAt: number | null;
  /** Set where the state is what one agent alone has seen. */
  readonly agent?: string;
}

export interface Line extends Partial<Seen> {
  readonly at: number;
  readonly decision?: Answer;
  readonly because?: string;
  /** What people would have been told. */
  readonly notices: readonly string[];
  /** Every server, tool and scope that the event, or time before it, has touched. */
  readonly touched: readonly (Seen & Pick<Line, 'at' | 'decision' | 'because'>)[];
}

export function seenOf(page: Page, part: string, nowMs: number): Seen {
  const { subject, rules, parts } = page;
  const rule = ruleOfPart(subject, rules, part);
  const kept = parts[part] ?? TRUSTED;
  // What nothing can count any more is forgotten when its part is next met; it is not shown until then.
  const isForgotten = part !== WHOLE && kept.status === 'TRUSTED' && isSpent(kept.tally, rule, nowMs);
  const state = isForgotten ? TRUSTED : kept;
  const due = dueAt(state, rule);
  const scope = scopeOfPart(part);
  const agent = agentOfPart(part);
  return {
    server: subject.server,
    tool: subject.kind === 'server' ? null : subject.name,
    scope: scope === WHOLE ? null : scope,
    state: state.status,
    reason: state.status === 'TRUSTED' ? null : state.reason,
    consecutiveFailures: state.tally.consecutive,
    failuresInWindow: failuresInWindow(state.tally, rule, nowMs),
    successes: state.status === 'RECOVERING' ? state.successes : 0,
    dueAt: due === undefined ? null : due / 1000,
    ...(agent === undefined ? {} : { agent }),
  };
}

/** The touched subject that governs: the strictest, and of equals the most specific. */
export function governing(seen: readonly Seen[]): Seen | undefined {
  const bySpecificity = seen.toSorted((a, b) => depth(b) - depth(a));
  return bySpecificity.reduce<Seen | undefined>(
    (found, next) => (found === undefined || stricter(next.state, found.state) ? next : found),
    undefined,
  );
}

export function noticesOf(touched: readonly Touched[]): string[] {
  return touched.flatMap(({ page, effects }) =>
    effects.filter(({ part }) => ruleOfPart(page.subject, page.rules, part).notify).map(({ change }) => change),
  );
}

function depth({ tool, scope }: Seen): number {
  return (tool === null ? 0 : 1) + (scope === null ? 0 : 1);
}
