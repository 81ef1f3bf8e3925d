import { serverKey, toolKey } from '../src/domain/key/tool-key.ts';
import { normaliseScope } from '../src/domain/key/scope.ts';
import { redactText } from '../src/domain/outcome/redact.ts';
import type { Subject } from '../src/domain/trust/parts.ts';
import type { IdentifiedOutcome } from '../src/domain/trust/reported.ts';
import { appendOrders, appendOutcomes } from '../src/postgres/append.ts';
import type { Ledger } from '../src/postgres/append.ts';
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
  await appendOutcomes(ledger, records, await currentRules(ledger.pool));
  return 0;
}

/** Orders given to the workflow itself. Their ids were made by the workflow, so it is safe to run twice. */
export async function appendGivenOrders(
  ledger: Ledger,
  key: string,
  subject: Subject,
  orders: readonly QueuedOrder[],
): Promise<void> {
  if (isKeyOf(key, subject) && subject.kind === 'tool') await ledger.subjects.of([subject]);
  await appendOrders(
    ledger,
    orders.map(({ id, order, by, reason, scope }) => ({
      id,
      order,
      subjectKey: key,
      by: `${by ?? 'somebody'} (unverified)`,
      reason: redactText(reason ?? '', 300),
      ...(scope === undefined ? {} : { scope: normaliseScope(scope) ?? scope }),
    })),
  );
}

/** A workflow started by hand under another id must not write into the ledger of a tool that is not its own. */
function isKeyOf(key: string, { kind, server, name }: Subject): boolean {
  return key === (kind === 'server' ? serverKey(server) : toolKey(server, name));
}
