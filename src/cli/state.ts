import type { PartView } from '../domain/trust/part-view.ts';
import type { Status } from '../domain/trust/trust.ts';
import type { Cell } from './table.ts';
import type { Style } from './terminal.ts';
import { clock, fromNow } from './time.ts';

const STYLE: Readonly<Record<Status, Style>> = {
  TRUSTED: 'green',
  RECOVERING: 'cyan',
  ESCALATED: 'yellow',
  BLOCKED: 'red',
};

export function stateCell(status: Status): Cell {
  return { text: status, style: STYLE[status] };
}

/** What comes next, in few words: the end of an escalation, successes still to come, or the order it takes. */
export function nextIn({ state, until, successes, successesNeeded }: PartView, now: number): string {
  switch (state) {
    case 'TRUSTED':
      return '';
    case 'ESCALATED':
      return until === null ? 'surety recover' : ends(Date.parse(until), now);
    case 'RECOVERING':
      return `${successes ?? 0} of ${successesNeeded ?? 0} successes`;
    case 'BLOCKED':
      return until === null ? 'surety reset' : ends(Date.parse(until), now);
  }
}

/** The same in a sentence. */
export function endOf({ state, until, successes, successesNeeded }: PartView, now: number): string {
  const when = until === null ? '' : `${clock(Date.parse(until))} UTC (${fromNow(Date.parse(until), now)})`;
  switch (state) {
    case 'TRUSTED':
      return 'nothing is held against it';
    case 'ESCALATED':
      return until === null
        ? 'a person ends it: surety recover'
        : `escalation ends ${when}; then ${successesNeeded ?? 0} successes`;
    case 'RECOVERING':
      return `${successes ?? 0} of ${successesNeeded ?? 0} successes seen; one call is tried at a time`;
    case 'BLOCKED':
      return until === null ? 'a person ends it: surety reset' : `block ends ${when}`;
  }
}

function ends(at: number, now: number): string {
  // A deadline that has passed is applied by the worker within a moment; if it is not, that is worth seeing.
  return at >= now ? fromNow(at, now) : `due ${fromNow(at, now)}`;
}
