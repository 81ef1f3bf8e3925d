import { serverKey, toolKey } from '../src/domain/key/tool-key.ts';
import { normaliseScope } from '../src/domain/key/scope.ts';
import { unverified } from '../src/domain/approval/person.ts';
import { redactText } from '../src/domain/outcome/redact.ts';
import { LOCAL } from '../src/domain/trust/entry.ts';
import type { Subject } from '../src/domain/trust/parts.ts';
import type { IdentifiedOutcome } from '../src/domain/trust/reported.ts';
import { appendOrders, appendOutcomes } from '../src/postgres/append.ts';
import type { Ledger } from '../src/postgres/append.ts';
import { isRefusal } from '../src/postgres/refusal.ts';
import { currentRules } from '../src/postgres/rules.ts';
import type { QueuedOrder } from '../workflows/messages.ts';

/**
 * Outcomes that came as a signal; answers how many were refused. Each has an id, of the caller or of the workflow, which
 * makes it safe to run twice.
 */
export async function appendReported(
  ledger: Ledger,
  key: string,
  subject: Subject,
  outcomes: readonly IdentifiedOutcome[],
): Promise<number> {
  if (!isKeyOf(key, subject) || subject.kind === 'server') return outcomes.length;
  const records = outcomes.map(({ id, message, scope, at, ...outcome }) => {
    const normalised = scope === undefined ? undefined : normaliseScope(scope);
    return {
      ...outcome,
      server: subject.server,
      name: subject.name,
      at: at ?? Date.now(),
      callId: id,
      ...(normalised === undefined ? {} : { scope: normalised }),
      ...(message === undefined ? {} : { message: redactText(message, 500) }),
      ...(outcome.kind === 'failure' ? { evidence: 'structured' as const } : {}),
    };
  });
  const rules = await currentRules(ledger.pool);
  return (await refusedOf(records, (some) => appendOutcomes(ledger, some, rules))).length;
}

/**
 * Orders given to the workflow itself; answers which were refused. Their ids were made by the workflow, so it is safe to
 * run twice.
 */
export async function appendGivenOrders(
  ledger: Ledger,
  key: string,
  subject: Subject,
  orders: readonly QueuedOrder[],
): Promise<readonly string[]> {
  if (isKeyOf(key, subject)) await ledger.subjects.of([subject]);
  const known = await ledger.pool.query('select 1 from subject where key = $1', [key]);
  if (known.rowCount === 0) return orders.map(({ id }) => id);
  const given = orders.map(({ id, order, by, reason, scope }) => ({
    id,
    order,
    subjectKey: key,
    by: unverified(redactText(by ?? 'somebody', 200)),
    reason: redactText(reason ?? '', 300),
    ...(scope === undefined ? {} : { scope: normaliseScope(scope) ?? scope }),
  }));
  return (await refusedOf(given, (some) => appendOrders(ledger, some))).map(({ id }) => id);
}

/**
 * Appends, and answers what the ledger will not take. That is found out one by one: an activity that is tried again for
 * ever would stop its workflow over one bad row.
 */
async function refusedOf<T>(items: readonly T[], append: (some: readonly T[]) => Promise<unknown>): Promise<T[]> {
  try {
    await append(items);
    return [];
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (items.length === 1) return [...items];
    const refused: T[] = [];
    for (const item of items) refused.push(...(await refusedOf([item], append)));
    return refused;
  }
}

/** A workflow started by hand under another id must not write into the ledger of a tool that is not its own. */
function isKeyOf(key: string, { kind, server, name }: Subject): boolean {
  if (kind === 'tool') return key === toolKey(server, name);
  return key === serverKey(server) && server !== LOCAL;
}
