/** What a list knows of a question's arguments. */
export interface ListedArguments {
  readonly arguments?: unknown;
  readonly isLeftOut: boolean;
}

/** Of the arguments as much as one line of a list has room for; the whole is to be had with the question alone. */
export function argumentsLine({ arguments: shown, isLeftOut }: ListedArguments, most: number): string {
  if (isLeftOut) return 'long arguments';
  if (shown === null || shown === undefined) return 'arguments too large to be shown';
  const text = JSON.stringify(shown);
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
