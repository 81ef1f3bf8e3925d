/** The beginning and the end of a stream of any length, in memory that does not grow with it. */
export class HeadAndTail {
  readonly #head: Buffer;
  readonly #tail: Buffer;
  #total = 0;

  constructor(budgetBytes: number) {
    const head = Math.ceil(budgetBytes / 2);
    this.#head = Buffer.alloc(head);
    this.#tail = Buffer.alloc(budgetBytes - head);
  }

  push(chunk: Uint8Array): void {
    const room = Math.max(0, this.#head.length - this.#total);
    if (room > 0) this.#head.set(chunk.subarray(0, room), this.#total);
    this.#keepEnd(chunk.subarray(room), Math.max(0, this.#total - this.#head.length));
    this.#total += chunk.length;
  }

  /** `at`: how many bytes went past the head before these. The tail is a ring. */
  #keepEnd(rest: Uint8Array, at: number): void {
    const size = this.#tail.length;
    if (size === 0) return;
    const skipped = Math.max(0, rest.length - size);
    const end = rest.subarray(skipped);
    const from = (at + skipped) % size;
    const first = Math.min(end.length, size - from);
    this.#tail.set(end.subarray(0, first), from);
    this.#tail.set(end.subarray(first), 0);
  }

  get total(): number {
    return this.#total;
  }

  get omitted(): number {
    return Math.max(0, this.#total - this.#head.length - this.#tail.length);
  }

  /** What is kept; between the two lie `omitted` bytes. */
  parts(): { readonly head: Buffer; readonly tail: Buffer } {
    const size = this.#tail.length;
    const past = Math.max(0, this.#total - this.#head.length);
    const head = this.#head.subarray(0, Math.min(this.#total, this.#head.length));
    if (past <= size) return { head, tail: this.#tail.subarray(0, past) };
    const from = past % size;
    return { head, tail: Buffer.concat([this.#tail.subarray(from), this.#tail.subarray(0, from)]) };
  }
}
