import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { link, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import type { ChainHead } from '../../domain/audit/chain.ts';
import { codeOf } from '../../problem.ts';
import { findProcess, isRunning } from '../../stack/process.ts';

const Head = z.object({ lane: z.number(), seq: z.number(), hash: z.string() });
const Claim = z.object({
  pid: z.number(),
  startedAt: z.string(),
  /** Machine and process namespace: of another one's processes nothing is known, so they count as alive. */
  place: z.string(),
  /** Where the chain stood when it was given back; null while it is held, and for ever after a crash. */
  released: Head.nullable(),
  /** Where the chain stood, at least, when it was taken up: what the claim before this one recorded. */
  from: Head.nullable().default(null),
});
type Claim = z.infer<typeof Claim>;

/** A lane of the audit that only this process writes to. */
export interface LaneClaim {
  readonly lane: number;
  /** Where the chain ends at least, as its writers have recorded it. Undefined where nobody has. */
  readonly recorded: ChainHead | undefined;
  /** Records another end: what was missing before it has been noted. */
  record(head: ChainHead): Promise<void>;
  /** Gives the lane back and leaves behind where its chain ends, so that lines cut off later are missed. */
  release(head: ChainHead): Promise<void>;
}

const MOST_LANES = 10_000;

/**
 * Takes the first lane that nobody alive holds. Claims of a lane are numbered and never reused: whoever finds the
 * highest one released or its process dead may make the next number, which only one can; whoever then sees a higher one
 * steps back. So two never take over from the same dead one, as they could by deleting its claim and making a new one.
 */
export async function claimLane(directory: string): Promise<LaneClaim> {
  const self = findProcess(process.pid);
  if (self === undefined) throw new Error(`cannot find this process (${process.pid}) in the process table`);
  const held: Claim = { ...self, place: here(), released: null, from: null };
  for (let lane = 0; lane < MOST_LANES; lane += 1) {
    const mine = await tryLane(directory, lane, held);
    if (mine === undefined) continue;
    const { name, claim } = mine;
    return {
      lane,
      recorded: claim.from ?? undefined,
      record: (head) => put(directory, name, { ...claim, from: head }, rename),
      release: (head) => put(directory, name, { ...claim, released: head }, rename),
    };
  }
  throw new Error(`${MOST_LANES} lanes of the audit in ${directory} are taken`);
}

/** Where each lane ends at least: where it stood when it was last given back. */
export async function recordedHeads(directory: string): Promise<ReadonlyMap<number, ChainHead>> {
  const heads = new Map<number, ChainHead>();
  for (const { lane, name } of await claims(directory)) {
    // In ascending order, so that the newest claim of a lane has the last word.
    const recorded = recordedIn(await readClaim(directory, name));
    if (recorded === null) heads.delete(lane);
    else heads.set(lane, recorded);
  }
  return heads;
}

/** A claim of a writer that crashed still knows what it took over. */
function recordedIn(claim: Claim | undefined): ChainHead | null {
  return claim?.released ?? claim?.from ?? null;
}

/** Our claim, or undefined where somebody else holds the lane. */
async function tryLane(
  directory: string,
  lane: number,
  held: Claim,
): Promise<{ readonly name: string; readonly claim: Claim } | undefined> {
  const before = (await claims(directory)).filter((each) => each.lane === lane);
  const highest = before.at(-1);
  const last = highest === undefined ? undefined : await readClaim(directory, highest.name);
  if (highest !== undefined && !isFree(last)) return undefined;
  // Nobody changes a claim that was given back, or whose process is dead: what it records is final.
  const claim = { ...held, from: recordedIn(last) };
  const mine = `${lane}.claim-${String((highest?.number ?? 0) + 1)}`;
  try {
    await put(directory, mine, claim, async (temporary, path) => {
      await link(temporary, path);
      await unlink(temporary);
    });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
  const after = (await claims(directory)).filter((each) => each.lane === lane);
  if (after.at(-1)?.name !== mine) {
    await unlink(join(directory, mine));
    return undefined;
  }
  for (const { name } of before) await unlink(join(directory, name)).catch(unlessGone);
  return { name: mine, claim };
}

function isFree(claim: Claim | undefined): boolean {
  if (claim === undefined) return false;
  return claim.released !== null || (claim.place === here() && !isRunning(claim));
}

async function claims(directory: string) {
  return (await readdir(directory))
    .flatMap((name) => {
      const [, lane, number] = /^(\d{1,6})\.claim-(\d{1,15})$/.exec(name) ?? [];
      return lane === undefined ? [] : [{ name, lane: Number(lane), number: Number(number) }];
    })
    .sort((a, b) => a.lane - b.lane || a.number - b.number);
}

/** Undefined for one that is gone by now, or is none. */
async function readClaim(directory: string, name: string): Promise<Claim | undefined> {
  const text = await readFile(join(directory, name), 'utf8').catch(unlessGone);
  if (text === undefined) return undefined;
  try {
    return Claim.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return undefined;
    throw error;
  }
}

/** Written in full before it has its name: nobody ever reads half a claim. */
async function put(
  directory: string,
  name: string,
  claim: Claim,
  place: (from: string, to: string) => Promise<void>,
): Promise<void> {
  const temporary = join(directory, `.${randomBytes(9).toString('hex')}`);
  try {
    await writeFile(temporary, JSON.stringify(claim), { mode: 0o600, flag: 'wx' });
    await place(temporary, join(directory, name));
  } catch (error) {
    await unlink(temporary).catch(unlessGone);
    throw error;
  }
}

function here(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return hostname();
  }
}

function unlessGone(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
  return undefined;
}
