/** Calls of this process that wait for a person, by question. */
export class Waiters {
  readonly #byQuestion = new Map<string, Set<() => void>>();

  /** Answers how to stop waiting. */
  add(question: string, wake: () => void): () => void {
    const waiting = this.#byQuestion.get(question) ?? new Set();
    this.#byQuestion.set(question, waiting.add(wake));
    return () => {
      waiting.delete(wake);
      if (waiting.size === 0) this.#byQuestion.delete(question);
    };
  }

  /** Something became of a question. */
  tell(question: string): void {
    for (const wake of this.#byQuestion.get(question) ?? []) wake();
  }
}
