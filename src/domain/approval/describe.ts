import type { ApprovalState, Question } from './approval.ts';
import { askedOf, consentsNeeded } from './approval.ts';
import type { ApprovalTerms } from '../rules/rules.schema.ts';

interface Described {
  readonly id: string;
  readonly tool: string;
  readonly because: string;
  readonly question: Question;
  readonly terms: ApprovalTerms;
}

/** For the operator who opens the workflow: Markdown, without arguments. */
export function approvalDetails({ id, tool, because, question, terms }: Described, state: ApprovalState): string {
  const { end } = state;
  const time = (at: number) => new Date(at).toISOString();
  const asked = askedOf(state, terms);
  const lines = [
    `**${tool}** is held: ${because}`,
    '',
    `- asked at ${time(state.askedAt)}${question.agent === null ? '' : ` by ${question.agent}`}`,
    ...(asked.length === 0 ? [] : [`- to be decided by ${asked.join(', ')}`]),
    ...(consentsNeeded(question, terms) > 1
      ? [`- two people must agree; so far: ${state.consents.join(', ') || 'nobody'}`]
      : []),
    end === undefined
      ? `- open until ${time(state.expiresAt)}, then it expires; version ${state.version}`
      : `- **${state.status}** at ${time(end.at)}${end.by === null ? '' : ` by ${end.by}${end.verified ? '' : ' (unverified)'}`}${end.reason === '' ? '' : `: ${end.reason}`}`,
    '',
    ...(end === undefined ? [`Decide with \`surety approve ${id}\` or \`surety deny ${id}\`.`] : []),
  ];
  return lines.join('\n');
}
