import { clock, plain } from '../trust/describe.ts';
import type { ApprovalState, Question } from './approval.ts';
import { askedOf, consentsNeeded, nextRung } from './approval.ts';
import { coverage } from './grant.ts';
import { enderOf } from './person.ts';
import type { ApprovalTerms } from '../rules/rules.schema.ts';

interface Described {
  readonly id: string;
  readonly tool: string;
  readonly because: string;
  readonly question: Question;
  readonly terms: ApprovalTerms;
}

/** For the operator who opens the workflow: Markdown, without arguments. What was decided comes first. */
export function approvalDetails({ id, tool, because, question, terms }: Described, state: ApprovalState): string {
  const { end } = state;
  const agent = question.agent === null ? 'an unnamed agent' : plain(question.agent);
  const asked = askedOf(state, terms);
  const lines = [
    `## ${end === undefined ? `Open: may ${agent} call ${plain(tool)}?` : endLine(state)}`,
    '',
    `${plain(because)}.`,
    '',
    `- asked by ${agent} at ${clock(state.askedAt)}`,
    ...(asked.length === 0 ? [] : [`- to be decided by ${plain(asked.join(', '))}`]),
    ...(consentsNeeded(question, terms) > 1
      ? [`- two people must agree; so far: ${plain(state.consents.join(', ')) || 'nobody'}`]
      : []),
    ...(end === undefined ? openLines(state, terms) : endLines(tool, state)),
    '',
    ...(end === undefined ? [`Decide in the console, or with \`surety approve ${id}\` or \`surety deny ${id}\`.`] : []),
  ];
  return lines.join('\n');
}

function openLines(state: ApprovalState, terms: ApprovalTerms): string[] {
  const rung = nextRung(state, terms);
  const following = terms.approvers[state.level + 1] ?? [];
  return [
    ...(rung?.what === 'remind' ? [`- reminder at ${clock(rung.at)}`] : []),
    ...(rung?.what === 'next' ? [`- ${plain(following.join(', '))} asked, too, at ${clock(rung.at)}`] : []),
    `- expires at ${clock(state.expiresAt)}; version ${state.version}`,
  ];
}

function endLine({ status, end }: ApprovalState): string {
  const word = `${status.slice(0, 1).toUpperCase()}${status.slice(1)}`;
  if (end === undefined || end.by === null) return `${word}: ${plain(end?.reason ?? '')}`;
  return `${word} by ${enderOf({ status, endedBy: plain(end.by), verified: end.verified })}`;
}

function endLines(tool: string, { end, status }: ApprovalState): string[] {
  if (end === undefined) return [];
  return [
    `- ${status} at ${clock(end.at)}${end.reason === '' ? '' : `: ${plain(end.reason)}`}`,
    ...(end.grant === undefined ? [] : [`- granted: ${plain(coverage(end.grant, tool, 'the same scope'))}`]),
    ...(end.editDigest === undefined ? [] : ['- with edited arguments']),
  ];
}
