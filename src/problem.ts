/**
 * An expected failure for which we know the way out: a port in use, a server that does not answer.
 * The command line prints `message`, then `wayOut`, and exits 1; anything else thrown is a bug and keeps its stack.
 */
export class Problem extends Error {
  readonly wayOut: string;

  constructor(message: string, wayOut: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Problem';
    this.wayOut = wayOut;
  }
}

/** The message of whatever was thrown, for a sentence that says why a step failed. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a system, Postgres or gRPC error: what a `catch` narrows by. */
export function codeOf(error: unknown): string | number | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' || typeof error.code === 'number' ? error.code : undefined;
}

/** What is tried again and again fails with the same words each time: they are told once. An empty message ends them. */
export function unlessRepeated(tell: (message: string) => void): (message: string) => void {
  let last = '';
  return (message) => {
    if (message !== last && message !== '') tell(message);
    last = message;
  };
}
