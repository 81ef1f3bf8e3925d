import type { Reason } from './judgement.ts';
import type { Verdict } from './policy.ts';
import type { Site } from './reading/reading.ts';

const MOST_REASONS = 50;
const WEIGHT: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };

/** Why a command line may run, asks or is denied, as it is found out; each reason once. */
export class Reasons {
  /** Of every reason there is, shown or not. */
  verdict: Verdict = 'allow';
  isUnconditional = false;
  /** Those to be shown, by weight: any number of light ones leaves room for the heavy. */
  private readonly found = new Map<number, Map<string, Reason>>();

  /** On the list that nobody can lift; a guess is no ground to deny. */
  block(because: string, site: Site, rule?: string, isGuess = false): void {
    if (isGuess) this.add('ask', because, site, rule);
    else this.put({ because, verdict: 'deny', start: site.start, end: site.end, ...named(rule), unconditional: true });
  }

  add(verdict: Verdict, because: string, site: Site, rule?: string): void {
    this.put({ because, verdict, start: site.start, end: site.end, ...named(rule) });
  }

  /** The heaviest first. */
  inOrder(): readonly Reason[] {
    if (this.found.size === 0) return [];
    return [...this.found.values()]
      .flatMap((reasons) => [...reasons.values()])
      .sort((a, b) => weight(b) - weight(a) || a.start - b.start)
      .slice(0, MOST_REASONS);
  }

  private put(reason: Reason): void {
    if (WEIGHT[reason.verdict] > WEIGHT[this.verdict]) this.verdict = reason.verdict;
    if (reason.unconditional === true) this.isUnconditional = true;
    const alike = this.found.get(weight(reason)) ?? new Map<string, Reason>();
    if (alike.size >= MOST_REASONS) return;
    this.found.set(weight(reason), alike);
    const key = `${reason.start} ${reason.end} ${reason.because}`;
    if (!alike.has(key)) alike.set(key, reason);
  }
}

function named(rule: string | undefined): { rule?: string } {
  return rule === undefined ? {} : { rule };
}

function weight({ verdict, unconditional }: Reason): number {
  return WEIGHT[verdict] + (unconditional === true ? 1 : 0);
}
