import type { Gate } from 'surety';

const ON_THEIR_WAY = 8000;

export interface Traffic {
  readonly outcomes: number;
  readonly tools: number;
  /** Every so many-th call fails. */
  readonly failing: number;
}

/** Keeps the buffer well filled without overrunning it, as many agents in one process would. */
export function send(gate: Gate, name: string, { outcomes, tools, failing }: Traffic, calls?: string[]): Promise<void> {
  return new Promise((done, failed) => {
    let [next, acknowledged] = [0, 0];
    const settle = (call: string) => {
      calls?.push(call);
      acknowledged += 1;
      if (acknowledged === outcomes) done();
      else if (next - acknowledged <= ON_THEIR_WAY / 2) fill();
    };
    const fill = () => {
      for (; next < outcomes && next - acknowledged < ON_THEIR_WAY; next += 1) {
        const tool = `${name}-${next % tools}`;
        const outcome = isFailure(next, tools, failing) ? FAILED : WORKED;
        gate.report({ tool, args: { query: next }, ...outcome }).then(settle, failed);
      }
    };
    fill();
  });
}

/** Every tool's calls fail as often as any other's: by its own count, each beginning elsewhere. */
function isFailure(call: number, tools: number, failing: number): boolean {
  return (Math.floor(call / tools) + (call % tools)) % failing === failing - 1;
}

export const FAILED = { success: false, error: { message: 'upstream exploded', status: 500 } };
export const WORKED = { result: { answer: 'forty-two', items: [1, 2, 3] } };
