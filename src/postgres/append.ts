import type pg from 'pg';
import { bounded } from '../domain/key/bounded.ts';
import { serverKey, toolKey } from '../domain/key/tool-key.ts';
import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import { ruleForScope, viewForTool } from '../domain/rules/resolve.ts';
import { countsOnServer, LOCAL } from '../domain/trust/entry.ts';
import type { OrderName } from '../domain/trust/event.ts';
import { ringsBell } from '../domain/trust/rings.ts';
import type { Names, Subjects } from './intern.ts';
import { outcomeId } from './outcome-id.ts';
import { askForBells, record } from './record.ts';
import type { Flushed, LedgerRow } from './record.ts';
import type { PublishedRules } from './rules.ts';
import { storable } from '../domain/outcome/field.ts';

const MOST_NAME_BYTES = 1000;

/** What it takes to write to the ledger. */
export interface Ledger {
  readonly pool: pg.Pool;
  readonly names: Names;
  readonly subjects: Subjects;
}

/** Makes outcomes durable and has the workflows told that must hear of them. Idempotent by call id. */
export async function appendOutcomes(
  ledger: Ledger,
  outcomes: readonly LedgerOutcome[],
  { rules, version }: PublishedRules,
): Promise<Flushed> {
  const [subjectId, nameId] = await Promise.all([
    ledger.subjects.of(outcomes),
    ledger.names.of(outcomes.flatMap(({ scope, agent, session }) => [stored(scope), stored(agent), stored(session)])),
  ]);
  const rows = outcomes.map((outcome): LedgerRow => {
    const view = viewForTool(rules, version, outcome.server, outcome.name);
    const onServer = countsOnServer(outcome.server, outcome.scope, outcome.category) && outcome.kind === 'failure';
    return {
      ...outcome,
      id: outcomeId(outcome.callId, outcome.server, outcome.name),
      subject: subjectId(toolKey(outcome.server, outcome.name)),
      serverSubject: outcome.server === LOCAL ? null : subjectId(serverKey(outcome.server)),
      scope: nameId(stored(outcome.scope)),
      agent: nameId(stored(outcome.agent)),
      session: nameId(stored(outcome.session)),
      rings: !onServer && ringsBell(outcome, ruleForScope(view, outcome.scope ?? '').rule),
      onServer,
      ...(outcome.kind === 'success' ? {} : { detail: detailOf(outcome) }),
    };
  });
  return write(ledger.pool, rows, rules.maxLatenessSeconds);
}

export interface Order {
  readonly id: string;
  readonly order: OrderName;
  readonly subjectKey: string;
  readonly by: string;
  readonly reason: string;
  readonly scope?: string;
}

/** Orders are rows like any other: what a person did stands between what happened before and after it. */
export async function appendOrders(ledger: Ledger, orders: readonly Order[]): Promise<Flushed> {
  const nameId = await ledger.names.of(orders.map(({ scope }) => stored(scope)));
  const found = await ledger.pool.query<{ id: number; key: string }>(
    'select id, key from subject where key = any($1)',
    [orders.map(({ subjectKey }) => subjectKey)],
  );
  const subjectId = new Map(found.rows.map(({ id, key }) => [key, id]));
  const rows = orders.flatMap(({ id, order, subjectKey, by, reason, scope }): LedgerRow[] => {
    const subject = subjectId.get(subjectKey);
    if (subject === undefined) return [];
    const isServer = subjectKey.startsWith('server:');
    return [
      {
        id: outcomeId(id, 'order', subjectKey),
        subject,
        serverSubject: isServer ? subject : null,
        kind: order,
        at: Date.now(),
        scope: nameId(stored(scope)),
        agent: null,
        session: null,
        rings: true,
        onServer: isServer,
        detail: { by, reason },
      },
    ];
  });
  return write(ledger.pool, rows, 0);
}

async function write(pool: pg.Pool, rows: readonly LedgerRow[], maxLatenessSeconds: number): Promise<Flushed> {
  const flushed = await record(pool, rows, { sentAt: Date.now(), maxLatenessMs: maxLatenessSeconds * 1000 });
  await askForBells(pool, flushed.bells);
  return flushed;
}

function detailOf(outcome: LedgerOutcome): Record<string, unknown> {
  const { errorType, message, httpStatus, exitCode, retryCount, wasTransient } = outcome;
  const { argumentSummary, argumentsDigest, traceback, context, turn, callId } = outcome;
  return {
    ...{ errorType, message, httpStatus, exitCode, retryCount, wasTransient },
    ...{ argumentSummary, argumentsDigest, traceback, context, turn, callId },
  };
}

/** Names are indexed, and an index has no room for kilobytes. */
function stored(text: string | undefined): string | undefined {
  return text === undefined ? undefined : bounded(storable(text), MOST_NAME_BYTES);
}
