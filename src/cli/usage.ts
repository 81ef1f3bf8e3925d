import { InvalidArgumentError } from 'commander';
import { Problem, reasonOf } from '../problem.ts';

export const EXIT = { ok: 0, error: 1, usage: 2, denied: 3, ask: 4 } as const;

/** The command was not given as it has to be: exit code 2, and nothing was done. */
export class UsageError extends Problem {}

/** Values of options. Each throws what commander prints together with the option's name. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`Expected JSON: ${reasonOf(error)}.`);
  }
}

export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('Expected a positive whole number.');
  return Number(text);
}
