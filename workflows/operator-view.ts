import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { Memory } from '../src/domain/trust/absorb.ts';
import { detailsOf, dueOf, nameOf, partLabel, reasonOf } from '../src/domain/trust/describe.ts';
import { strictest } from '../src/domain/trust/parts.ts';
import {
  keyword,
  SuretyDueAt,
  SuretyReason,
  SuretyServer,
  SuretyState,
  SuretyTool,
} from '../src/temporal/search-attributes.ts';

/** Continue-as-new blanks the details, so every run shows them anew; they are no event in the history. */
export function showDetails({ subject, parts, rules }: Memory, rejected: number): void {
  setCurrentDetails(detailsOf(subject, parts, rules, rejected));
}

/** What lists are filtered by. One event each time, so only when the state has changed. */
export function showInLists({ subject, parts, rules }: Memory): void {
  const { part, state } = strictest(parts);
  const due = dueOf(subject, parts, rules);
  const reason = [partLabel(part), reasonOf(state)].filter((text) => text !== '').join(': ');
  upsertSearchAttributes([
    { key: SuretyTool, value: keyword(nameOf(subject)) },
    { key: SuretyServer, value: keyword(subject.server) },
    { key: SuretyState, value: state.status },
    { key: SuretyReason, value: reason === '' ? null : keyword(reason) },
    { key: SuretyDueAt, value: due === undefined ? null : new Date(due.at) },
  ]);
}
