import type pg from 'pg';
import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import { ruleForScope, viewForTool } from '../domain/rules/resolve.ts';
import { countsOnServer } from '../domain/trust/entry.ts';
import type { OrderName } from '../domain/trust/event.ts';
import { bellOf } from '../domain/trust/rings.ts';
import type { Names, Subjects, ToolName } from './intern.ts';
import { outcomeId } from './outcome-id.ts';
import { askForBells, prepare, record, UnknownHeads } from './record.ts';
import type { Flushed, LedgerRow, Prepared } from './record.ts';
import type { PublishedRules } from './rules.ts';

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
  published: PublishedRules,
): Promise<Flushed> {
  return (await prepareOutcomes(ledger, outcomes, published))();
}

/**
 * All that can be done for outcomes before it is their turn to be written. What it answers writes them, and may be called
 * again.
 */
export async function prepareOutcomes(
  ledger: Ledger,
  outcomes: readonly LedgerOutcome[],
  published: PublishedRules,
): Promise<() => Promise<Flushed>> {
  const { names } = ledger;
  const learnt = names.learnt;
  const prepared = prepare(await rowsOf(ledger, outcomes, published));
  const writeAnew = async () => write(ledger.pool, prepare(await rowsOf(ledger, outcomes, published)), published);
  return async () => {
    // Numbers looked up in a database that may have been restored since.
    if (names.learnt !== learnt) return writeAnew();
    try {
      return await write(ledger.pool, prepared, published);
    } catch (error) {
      if (!(error instanceof UnknownHeads)) throw error;
      names.forget();
      ledger.subjects.forget();
      return writeAnew();
    }
  };
}

async function rowsOf(
  ledger: Ledger,
  outcomes: readonly LedgerOutcome[],
  { rules, version }: PublishedRules,
): Promise<readonly LedgerRow[]> {
  const [headsOf, nameId] = await Promise.all([ledger.subjects.of(outcomes), ledger.names.of(namesIn(outcomes))]);
  const rulesOf = remembered((tool) => viewForTool(rules, version, tool.server, tool.name));
  return outcomes.map((outcome): LedgerRow => {
    const { kind, scope } = outcome;
    const { id: subject, key, serverId, serverKey } = headsOf(outcome);
    const onServer = kind === 'failure' && countsOnServer(outcome.server, scope, outcome.category);
    const isSuccess = kind === 'success';
    const bell =
      isSuccess && outcome.probe === undefined
        ? 'not'
        : bellOf(outcome, ruleForScope(rulesOf(outcome), scope ?? '').rule);
    // Always the same fields: rows of one shape are what makes a flush of a thousand cheap.
    return {
      id: outcomeId(outcome.callId, outcome.server, outcome.name, outcome.agent),
      subject,
      subjectKey: key,
      serverSubject: serverId,
      serverKey: serverKey ?? undefined,
      kind,
      at: outcome.at,
      startedAt: outcome.startedAt,
      trustVersion: outcome.trustVersion,
      scope: nameId(scope),
      agent: nameId(outcome.agent),
      session: nameId(outcome.session),
      severity: outcome.severity,
      category: outcome.category,
      evidence: outcome.evidence,
      recoverable: outcome.recoverable,
      probe: outcome.probe,
      onServer,
      rings: bell === 'at once' && !onServer,
      canWait: onServer || bell === 'in time',
      // Nothing but its place and time is kept of a success.
      detail: isSuccess ? undefined : detailOf(outcome),
    };
  });
}

/** Each once: nearly all outcomes of a flush share their agent and session. */
function namesIn(outcomes: readonly LedgerOutcome[]): readonly string[] {
  const names = new Set<string | undefined>();
  for (const { scope, agent, session } of outcomes) names.add(scope).add(agent).add(session);
  return [...names].filter((name) => name !== undefined);
}

/** Within one flush: the same few tools come again and again. */
function remembered<T>(find: (tool: ToolName) => T): (tool: ToolName) => T {
  const known = new Map<string, T>();
  return (tool) => {
    const key = `${tool.server}\0${tool.name}`;
    const value = known.get(key) ?? find(tool);
    known.set(key, value);
    return value;
  };
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
  const nameId = await ledger.names.of(orders.map(({ scope }) => scope));
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
        scope: nameId(scope),
        agent: null,
        session: null,
        rings: true,
        canWait: false,
        onServer: isServer,
        detail: { by, reason },
      },
    ];
  });
  return write(ledger.pool, prepare(rows));
}

/** Without rules for what was given by a person: it is never late, and nothing of it can wait. */
async function write(pool: pg.Pool, prepared: Prepared, published?: PublishedRules): Promise<Flushed> {
  const maxLatenessMs = (published?.rules.maxLatenessSeconds ?? 0) * 1000;
  const rulesVersion = published?.version ?? null;
  const flushed = await record(pool, prepared, { sentAt: Date.now(), maxLatenessMs, rulesVersion });
  await askForBells(pool, flushed.bells);
  return flushed;
}

function detailOf(outcome: LedgerOutcome): Record<string, unknown> {
  return {
    errorType: outcome.errorType,
    message: outcome.message,
    httpStatus: outcome.httpStatus,
    exitCode: outcome.exitCode,
    retryCount: outcome.retryCount,
    wasTransient: outcome.wasTransient,
    argumentSummary: outcome.argumentSummary,
    argumentsDigest: outcome.argumentsDigest,
    traceback: outcome.traceback,
    context: outcome.context,
    turn: outcome.turn,
    callId: outcome.callId,
    grant: outcome.grant,
  };
}
