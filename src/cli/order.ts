import type pg from 'pg';
import { normaliseScope } from '../domain/key/scope.ts';
import { redactText } from '../domain/outcome/redact.ts';
import type { OrderName } from '../domain/trust/event.ts';
import { scopeOfPart, WHOLE } from '../domain/trust/parts.ts';
import { plural } from '../domain/trust/tally.ts';
import type { TrustState } from '../domain/trust/trust.ts';
import { partName } from '../domain/trust/part-view.ts';
import { pause } from '../pause.ts';
import { appendOrders } from '../postgres/append.ts';
import { Names, Subjects } from '../postgres/intern.ts';
import { newOutcomeId } from '../postgres/outcome-id.ts';
import { readSubjects } from '../postgres/read-subjects.ts';
import type { KnownSubject } from '../postgres/read-subjects.ts';
import { currentRules } from '../postgres/rules.ts';
import { Problem } from '../problem.ts';
import type { Cli } from './cli.ts';
import { summaryOf, summaryTable } from './status.ts';
import { shownName } from './subject.ts';
import { plain } from './text.ts';
import { UsageError } from './usage.ts';

export interface OrderOptions {
  readonly scope?: string;
  readonly reason?: string;
  readonly by?: string;
  readonly yes?: boolean;
  /** False with --no-wait. */
  readonly wait: boolean;
}

export interface Order {
  readonly order: OrderName;
  readonly subjects: readonly KnownSubject[];
  readonly scope?: string | undefined;
  readonly by: string;
  readonly reason?: string | undefined;
}

const APPLIED_WITHIN_MS = 15_000;
/** What each of many orders may take besides. */
const EACH_MS = 20;
const MOST_SHOWN = 20;
const MOST_REASON = 300;

/** `--scope` in the form the ledger has. */
export function scopeIn({ scope }: Pick<OrderOptions, 'scope'>): string | undefined {
  if (scope === undefined) return undefined;
  const normalised = normaliseScope(scope);
  if (normalised !== undefined) return normalised;
  throw new UsageError(`--scope ${JSON.stringify(scope)} names nothing.`, 'Give a host, host:…, program:… or dir:….');
}

/** The parts an order would reach. */
export function partsReached({ parts }: KnownSubject, scope: string | undefined): readonly TrustState[] {
  return Object.entries(parts)
    .filter(([part]) => scope === undefined || scopeOfPart(part) === scope)
    .map(([, state]) => state);
}

export async function preview(cli: Cli, pool: pg.Pool, subjects: readonly KnownSubject[]): Promise<void> {
  const published = await currentRules(pool);
  const shown = subjects.slice(0, MOST_SHOWN).map((subject) => summaryOf(subject, published));
  cli.terminal.print(summaryTable(cli, shown));
  if (subjects.length > shown.length) cli.terminal.print(`…and ${subjects.length - shown.length} more`);
  cli.terminal.print();
}

/** Appends an order for each subject: answers which row each has to be applied up to. */
export async function giveOrder(pool: pg.Pool, { order, subjects, scope, by, reason }: Order): Promise<Given[]> {
  const ledger = { pool, names: new Names(pool), subjects: new Subjects(pool) };
  const flushed = await appendOrders(
    ledger,
    subjects.map(({ key }) => ({
      id: newOutcomeId(),
      order,
      subjectKey: key,
      by,
      reason: redactText(reason ?? '', MOST_REASON),
      ...(scope === undefined ? {} : { scope }),
    })),
  );
  return [...flushed.places].map(([key, seq]) => ({ key, seq }));
}

interface Given {
  readonly key: string;
  readonly seq: number;
}

/** Waits until the workflows have applied what was appended; answers how the subjects then stand. */
export async function untilApplied(pool: pg.Pool, given: readonly Given[]): Promise<readonly KnownSubject[]> {
  const withinMs = APPLIED_WITHIN_MS + given.length * EACH_MS;
  const deadline = Date.now() + withinMs;
  const keys = given.map(({ key }) => key);
  for (;;) {
    const now = await readSubjects(pool, { keys });
    const applied = new Map(now.map(({ key, appliedSeq }) => [key, appliedSeq]));
    const waiting = given.filter(({ key, seq }) => (applied.get(key) ?? 0) < seq);
    if (waiting.length === 0) return now;
    if (Date.now() > deadline) {
      throw new Problem(
        `${plural(waiting.length, 'order')} not applied within ${Math.round(withinMs / 1000)} s: the worker seems to be down.`,
        'Nothing is lost: orders are kept in the ledger and applied as soon as a worker runs. `surety doctor` tells more.',
      );
    }
    await pause(Math.min(1000, 50 + given.length));
  }
}

/** Gives an order, waits for it unless told not to, and says what came of it. */
export async function carryOut(cli: Cli, pool: pg.Pool, order: Order, wait: boolean): Promise<void> {
  const given = await giveOrder(pool, order);
  if (!wait) {
    cli.terminal.print(`${plural(given.length, 'order')} recorded; applied as soon as the worker gets to it.`);
    return;
  }
  const after = await untilApplied(pool, given);
  for (const subject of after.slice(0, MOST_SHOWN)) {
    const state = subject.parts[order.scope ?? WHOLE]?.status ?? 'TRUSTED';
    const of = order.scope === undefined ? '' : ` for ${plain(partName(order.scope))}`;
    cli.terminal.print(`${shownName(subject)}${of} is ${order.scope === undefined ? subject.status : state}.`);
  }
  if (after.length > MOST_SHOWN) cli.terminal.print(`…and ${after.length - MOST_SHOWN} more.`);
}
