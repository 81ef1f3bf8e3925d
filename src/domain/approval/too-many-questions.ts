/** Nobody was asked: as many questions of the agent are open as it may have. Those stay as they are. */
export class TooManyQuestions extends Error {
  override readonly name = 'TooManyQuestions';
}

/** What whoever asks is told, with the way out. */
export function tooManyOf(agent: string | undefined, most: number): TooManyQuestions {
  const who = agent === undefined ? 'agents without a name have' : `${agent} has`;
  return new TooManyQuestions(
    `${who} ${most} open questions, which is the most (maxOpenQuestions in the rules): ` +
      'wait until some are decided, or withdraw what nobody needs any more',
  );
}
