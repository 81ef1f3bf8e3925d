import { loadavg } from 'node:os';

/** One line of the report. `ratio` is ours by peer; a budget bounds it, or bounds `ours` where there is no peer. */
export interface Row {
  readonly name: string;
  readonly ours: number;
  readonly peer: number | null;
  readonly ratio: number | null;
  readonly budget: string | null;
  readonly ok: boolean;
  readonly unit: string;
  readonly load: number;
  /** Lowest and highest over the rounds. */
  readonly spread: readonly [number, number];
  readonly peerSpread?: readonly [number, number];
}

/** `lowestAtMost` is for a time by itself: whatever else the machine does adds to it, and the lowest round has least of that. */
export type Budget =
  | { readonly atMost: number }
  | { readonly lowestAtMost: number }
  | { readonly atLeast: number }
  | { readonly exactly: number }
  | null;

const ROUNDS = 7;

/**
 * Runs every side once per round, each round another one first and every other one backwards, so that whatever else the machine
 * does falls on all of them alike, and what a side leaves to be done now on one neighbour and now on the other.
 */
export async function alternate<Side extends string>(
  sides: Readonly<Record<Side, () => number | Promise<number>>>,
  rounds = ROUNDS,
): Promise<Record<Side, readonly number[]>> {
  const names = Object.keys(sides) as Side[];
  const seen = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Side, number[]>;
  for (let round = 0; round < rounds; round += 1) {
    const step = round % 2 === 0 ? 1 : -1;
    for (const at of names.keys()) {
      const name = names.at((round + step * at) % names.length);
      if (name !== undefined) seen[name].push(await sides[name]());
    }
  }
  return seen;
}

export function row(
  name: string,
  unit: string,
  ours: readonly number[],
  peer: readonly number[] | null = null,
  budget: Budget = null,
): Row {
  const [mine, theirs] = [median(ours), peer === null ? null : median(peer)];
  const ratio = theirs === null ? null : mine / theirs;
  const judged = ratio ?? mine;
  const spread = spreadOf(ours);
  return {
    name,
    ours: mine,
    peer: theirs,
    ratio,
    ...judge(judged, spread[0], budget),
    unit,
    load: loadavg()[0] ?? 0,
    spread,
    ...(peer === null ? {} : { peerSpread: spreadOf(peer) }),
  };
}

function judge(value: number, lowest: number, budget: Budget): Pick<Row, 'budget' | 'ok'> {
  if (budget === null) return { budget: null, ok: true };
  if ('atMost' in budget) return { budget: `<= ${budget.atMost}`, ok: value <= budget.atMost };
  if ('lowestAtMost' in budget)
    return { budget: `lowest <= ${budget.lowestAtMost}`, ok: lowest <= budget.lowestAtMost };
  if ('atLeast' in budget) return { budget: `>= ${budget.atLeast}`, ok: value >= budget.atLeast };
  return { budget: `= ${budget.exactly}`, ok: value === budget.exactly };
}

function spreadOf(values: readonly number[]): readonly [number, number] {
  return [Math.min(...values), Math.max(...values)];
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/**
 * A module as it is shipped: loaders for TypeScript turn every use of an import into a call, which costs more than what is
 * measured here.
 */
export function shipped(path: string): string {
  return new URL(`../dist/${path}.js`, import.meta.url).href;
}

/** A percentile in each of five rounds: one stall of the machine falls on one of them. */
export function percentileByRound(values: readonly number[], share: number): readonly number[] {
  const size = Math.ceil(values.length / 5);
  return Array.from({ length: 5 }, (_, round) => percentile(values.slice(round * size, (round + 1) * size), share));
}

/** Nanoseconds for one of `times` calls, after some to warm up. */
export function nanosecondsOf(times: number, call: () => unknown): number {
  for (let i = 0; i < times / 4; i += 1) call();
  const start = process.hrtime.bigint();
  for (let i = 0; i < times; i += 1) call();
  return Number(process.hrtime.bigint() - start) / times;
}

export async function nanosecondsOfAsync(times: number, call: () => Promise<unknown>): Promise<number> {
  for (let i = 0; i < times / 4; i += 1) await call();
  const start = process.hrtime.bigint();
  for (let i = 0; i < times; i += 1) await call();
  return Number(process.hrtime.bigint() - start) / times;
}
