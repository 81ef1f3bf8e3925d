import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { absorb } from '../../src/domain/trust/absorb.ts';
import type { Memory, Watermark } from '../../src/domain/trust/absorb.ts';
import { calmOf } from '../../src/domain/trust/calm.ts';
import { isPlain, scopeOfPart } from '../../src/domain/trust/parts.ts';
import type { Parts } from '../../src/domain/trust/parts.ts';
import { pull } from '../../src/postgres/pull.ts';
import { createInstallation } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { append, failure, ledgerOf, outcome } from './support.ts';

let installation: Installation;

beforeAll(async () => {
  installation = await createInstallation({
    defaultRule: { escalationDurationSeconds: 1, cooldownSeconds: 0, successCountToRecover: 2, blockAfter: 4 },
    toolRules: { busy: { preset: 'rate-based' } },
    domainRules: { rated: { rateThreshold: 0.5, windowSeconds: 600, escalationDurationSeconds: 1 } },
  });
});
afterAll(() => installation.close());

const call = fc.record({
  kind: fc.constantFrom('success', 'success', 'success', 'failure', 'unknown'),
  scope: fc.option(fc.constantFrom('host:a', 'host:b', 'host:rated'), { nil: undefined }),
  severity: fc.constantFrom('server_error', 'server_error', 'not_found'),
});

let made = 0;

/** Reads a tool's ledger to its end, as its workflow would; `entries` are those of the last page. */
async function readOn(key: string, { before, fold = true }: { before?: Memory; fold?: boolean | 'successes' } = {}) {
  let memory = before;
  for (;;) {
    const calm = fold !== true || memory === undefined ? undefined : calmOf(memory.subject, memory.parts, memory.rules);
    const pulled = await pull(installation.pool, {
      key,
      since: memory?.watermark ?? { generation: await generation(), seq: 0, id: null },
      version: memory?.version ?? 0,
      rulesVersion: memory?.rules.version ?? -1,
      rulesShape: memory?.rules.shape ?? 0,
      scopes: Object.keys(memory?.parts ?? {}).map(scopeOfPart),
      fold: fold !== false && isPlain(memory?.parts ?? {}),
      ...(calm === undefined ? {} : { calm }),
    });
    if (pulled === undefined) throw new Error(`no ledger of ${key}`);
    const absorbed = absorb(memory, pulled);
    memory = absorbed.memory;
    if (!absorbed.unread) return { memory, parts: memory.parts, entries: pulled.entries };
  }
}

async function generation(): Promise<string> {
  return (
    (await installation.pool.query<{ generation: string }>('select generation from installation')).rows[0]
      ?.generation ?? ''
  );
}

test('folded and single reading lead to the same trust, for any history', async () => {
  const ledger = ledgerOf(installation);
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 80 }), async (calls) => {
      made += 1;
      const name = `fold${made}`;
      const outcomes = calls.map(({ kind, scope, severity }) => {
        const base = outcome({ name, kind: kind, ...(scope === undefined ? {} : { scope }) });
        return kind === 'failure'
          ? { ...base, severity: severity, category: 'quality' as const, evidence: 'text' as const }
          : base;
      });
      for (let i = 0; i < outcomes.length; i += 30) await append(ledger, outcomes.slice(i, i + 30));
      const [folded, singly] = [
        await readOn(`tool:local/${name}`),
        await readOn(`tool:local/${name}`, { fold: false }),
      ];
      expect(ignoringSuccessTimes(folded.parts)).toEqual(ignoringSuccessTimes(singly.parts));
    }),
    { numRuns: 40 },
  );
});

test('failures that can change nothing are few entries, and lead to the same trust', async () => {
  const ledger = ledgerOf(installation);
  const key = 'tool:local/busy';
  const calls = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      index % 20 === 7
        ? failure({ name: 'busy', severity: index % 40 === 7 ? 'timeout' : 'server_error' })
        : outcome({ name: 'busy' }),
    );
  await append(ledger, calls(12_000));
  const { memory: before } = await readOn(key);
  await append(ledger, calls(5000));
  const [folded, singly] = [await readOn(key, { before }), await readOn(key, { before, fold: 'successes' })];
  expect(folded.entries.length).toBeLessThan(10);
  expect(singly.entries.length).toBeGreaterThan(500);
  expect(folded.parts).toEqual(singly.parts);
});

test('a page stays small, however many scopes and successes there are', async () => {
  const ledger = ledgerOf(installation);
  const name = 'wide';
  const scopes = Array.from({ length: 300 }, (_, index) => `host:h${index}`);
  const lost = scopes.map((scope) => failure({ name, scope, severity: 'not_found' }));
  await append(ledger, lost);
  for (let round = 0; round < 20; round += 1) {
    await append(ledger, [
      ...scopes.map((scope) => outcome({ name, scope })),
      failure({ name, severity: 'not_found' }),
    ]);
  }
  const { successes, pages } = await readInPages(name, scopes);
  expect(pages).toBeGreaterThan(5);
  expect(successes).toBe(20 * 300);
});

test('a page stays small, too, where a rate is kept and nothing fails on hundreds of hosts', async () => {
  const ledger = ledgerOf(installation);
  const hosts = Array.from({ length: 2500 }, (_, index) => outcome({ name: 'quiet', scope: `host:h${index}` }));
  await append(ledger, hosts);
  const { successes } = await readInPages('quiet', []);
  expect(successes).toBe(2500);
});

/** All that a tool's ledger holds, no page of it larger than it may be. */
async function readInPages(name: string, scopes: readonly string[]): Promise<{ successes: number; pages: number }> {
  const request = { key: `tool:local/${name}`, version: 0, rulesVersion: -1, rulesShape: 0, scopes, fold: true };
  let since: Watermark = { generation: await generation(), seq: 0, id: null };
  let [successes, pages] = [0, 0];
  for (let more = true; more; pages += 1) {
    const pulled = await pull(installation.pool, { ...request, since });
    if (pulled === undefined) throw new Error('no ledger');
    expect(pulled.entries.length).toBeLessThanOrEqual(1000);
    for (const entry of pulled.entries) if (entry.kind === 'success') successes += entry.count ?? 1;
    ({ watermark: since, more } = pulled);
  }
  return { successes, pages };
}

/** A folded success has the time of the last one; and of a scope that is kept for nothing else, none at all. */
function ignoringSuccessTimes(parts: Parts): unknown {
  return JSON.parse(JSON.stringify(parts, (key, value: unknown) => (key === 'lastSuccessAt' ? undefined : value)));
}
