import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Ledger } from '../../src/postgres/append.ts';
import type { LedgerOutcome } from '../../src/domain/outcome/ledger-outcome.ts';
import { lowestIdAt, newOutcomeId, outcomeId } from '../../src/postgres/outcome-id.ts';
import { acknowledge } from '../../src/postgres/project.ts';
import type { Rest } from '../../src/postgres/project.ts';
import { readApplied } from '../../src/postgres/snapshot.ts';
import { createInstallation } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { append, failure, ledgerOf, outcome } from './support.ts';

let installation: Installation;
let ledger: Ledger;

beforeAll(async () => {
  installation = await createInstallation();
  ledger = ledgerOf(installation);
});
afterAll(() => installation.close());

async function rowsOf(name: string) {
  const found = await installation.pool.query<{ id: string; seq: number; at: Date; received_at: Date }>(
    'select l.id, l.seq, l.at, l.received_at from ledger l join subject s on s.id = l.subject where s.name = $1 order by l.seq',
    [name],
  );
  return found.rows;
}

async function headOf(key: string) {
  const found = await installation.pool.query<{ seq: number; ring_seq: number; outcomes: number; failures: number }>(
    'select seq, ring_seq, outcomes, failures from subject where key = $1',
    [key],
  );
  return found.rows[0];
}

describe('an outcome is recorded once', () => {
  test('within one flush, across flushes, and under any number of concurrent ones', async () => {
    const one = outcome({ name: 'once' });
    await append(ledger, [one, one]);
    await Promise.all(
      Array.from({ length: 10 }, () => append(ledgerOf(installation), [one, outcome({ name: 'once' })])),
    );
    const rows = await rowsOf('once');
    expect(rows.filter(({ id }) => id === one.callId)).toHaveLength(1);
    expect(rows).toHaveLength(11);
    expect(await headOf('tool:local/once')).toMatchObject({ outcomes: 11, seq: rows.at(-1)?.seq });
    expect(new Set(rows.map(({ seq }) => seq)).size).toBe(11);
  });

  test('an id the caller chose always means the same call, of that tool', async () => {
    await append(ledger, [outcome({ name: 'foreign', callId: 'call_1' })]);
    await append(ledger, [
      outcome({ name: 'foreign', callId: 'call_1' }),
      outcome({ name: 'foreign2', callId: 'call_1' }),
    ]);
    expect(await rowsOf('foreign')).toHaveLength(1);
    expect(await rowsOf('foreign2')).toHaveLength(1);
    expect(outcomeId('call_1', 'local', 'foreign')).toMatch(/^00000000-0000-8/);
  });

  test('an id the caller chose is the agent’s own, where it says who it is', async () => {
    const by = (agent: string) => outcome({ name: 'counted', callId: '1', agent });
    for (let times = 0; times < 2; times += 1) {
      await append(ledger, [by('bot'), by('eve'), outcome({ name: 'counted', callId: '1' })]);
    }
    const ids = (await rowsOf('counted')).map(({ id }) => id);
    expect(ids).toEqual(['bot', 'eve', undefined].map((agent) => outcomeId('1', 'local', 'counted', agent)));
  });

  test('an id of another week meets its original there, whatever week it is', async () => {
    const lastYear = lowestIdAt(Date.now() - 400 * 86_400_000).slice(0, 13) + newOutcomeId().slice(13);
    const nextYear = lowestIdAt(Date.now() + 400 * 86_400_000).slice(0, 13) + newOutcomeId().slice(13);
    for (let i = 0; i < 3; i += 1) {
      await append(ledger, [
        outcome({ name: 'skewed', callId: lastYear }),
        outcome({ name: 'skewed', callId: nextYear }),
      ]);
    }
    expect(await rowsOf('skewed')).toHaveLength(2);
  });
});

describe('time', () => {
  test('is the ledger’s; of the sender’s clock only the difference is taken', async () => {
    await append(ledger, [
      outcome({ name: 'late', at: Date.now() - 60_000 }),
      outcome({ name: 'late', at: Date.now() + 9e9 }),
      outcome({ name: 'late', at: 5 }),
    ]);
    const ages = (await rowsOf('late')).map(({ at, received_at }) =>
      Math.round((received_at.getTime() - at.getTime()) / 1000),
    );
    expect(ages).toEqual([60, 0, 3600]);
  });

  test('order within a flush is the order of the reports', async () => {
    const calls = Array.from({ length: 20 }, (_, index) => outcome({ name: 'order', callId: `${(index * 7) % 20}` }));
    await append(ledger, calls);
    const bySeq = (await rowsOf('order')).map(({ id }) => id);
    expect(bySeq).toEqual(calls.map(({ callId }) => outcomeId(callId, 'local', 'order')));
  });
});

describe('the bell', () => {
  test('is wanted for a counted failure, not for a success nor for an uncounted failure', async () => {
    expect((await append(ledger, [outcome({ name: 'bell' })])).bells).toEqual([]);
    expect((await append(ledger, [failure({ name: 'bell', severity: 'not_found' })])).bells).toEqual([]);
    expect((await append(ledger, [failure({ name: 'bell' })])).bells).toHaveLength(1);
  });

  test('is not wanted twice while it is unanswered', async () => {
    await append(ledger, [failure({ name: 'rung' })]);
    await installation.pool.query("update subject set rung_at = now() where key = 'tool:local/rung'");
    expect((await append(ledger, [failure({ name: 'rung' })])).bells).toEqual([]);
  });

  test('is wanted for everything once the tool is in doubt', async () => {
    await append(ledger, [outcome({ name: 'doubted' })]);
    await installation.pool.query("update subject set attentive = true where key = 'tool:local/doubted'");
    expect((await append(ledger, [outcome({ name: 'doubted' })])).bells).toHaveLength(1);
  });

  test('a failure to reach rings the server’s, not the tool’s', async () => {
    await append(ledger, [failure({ server: 'svc', name: 'a', severity: 'timeout', category: 'reachability' })]);
    expect(await headOf('server:svc')).toMatchObject({ seq: 1, ring_seq: 1 });
    expect(await headOf('tool:svc/a')).toMatchObject({ seq: 1, ring_seq: 0 });
  });
});

describe('while a tool is left alone', () => {
  const rulesVersion = 1;

  /** As its workflow does once it has judged everything: two more failures change nothing. */
  async function leaveAlone(name: string, rest: Partial<Rest> = {}): Promise<void> {
    await append(ledger, [failure({ name })]);
    const key = `tool:local/${name}`;
    const { seq, failures } = (await headOf(key)) ?? { seq: 0, failures: 0 };
    const said = { scope: '', failures: failures + 3, until: null, rulesVersion, ...rest };
    await acknowledge(installation.pool, key, seq, 0, said);
  }
  const bells = async (name: string, parts: Partial<LedgerOutcome> = {}) =>
    (await append(ledger, [failure({ name, ...parts })])).bells.length;

  test('its bell is not wanted until it has failed that often, whatever goes well meanwhile', async () => {
    await leaveAlone('patient');
    expect(await bells('patient')).toBe(0);
    await append(ledger, [outcome({ name: 'patient' })]);
    expect([await bells('patient'), await bells('patient')]).toEqual([0, 1]);
    expect(await headOf('tool:local/patient')).toMatchObject({ ring_seq: 5 });
  });

  test('a failure counts once, however often it is sent', async () => {
    await leaveAlone('again');
    const same = failure({ name: 'again' });
    for (let times = 0; times < 5; times += 1) expect((await append(ledger, [same])).bells).toEqual([]);
  });

  test.each([
    ['a failure of another scope', { scope: 'host:b' }],
    ['a concern of security', { severity: 'security' }],
    ['refused credentials', { severity: 'permission', category: 'auth' }],
    ['a probe', { probe: '1' }],
  ] as const)('its bell is wanted at once for %s', async (what, parts) => {
    await leaveAlone(what);
    expect(await bells(what, parts)).toBe(1);
  });

  test('that goes for the scope it was said of', async () => {
    await append(ledger, [failure({ name: 'scoped', scope: 'host:a' })]);
    await leaveAlone('scoped', { scope: 'host:a' });
    expect([await bells('scoped', { scope: 'host:a' }), await bells('scoped')]).toEqual([0, 1]);
  });

  test('no longer than until the time that was said', async () => {
    await leaveAlone('until', { until: Date.now() + 60_000 });
    expect(await bells('until')).toBe(0);
    await leaveAlone('until', { until: Date.now() - 1 });
    expect(await bells('until')).toBe(1);
  });

  test('no longer than its rules stay, nor than what it was judged by', async () => {
    await leaveAlone('ruled', { rulesVersion: 2 });
    expect(await bells('ruled')).toBe(1);
    await leaveAlone('applied');
    const { seq } = (await headOf('tool:local/applied')) ?? { seq: 0 };
    await append(ledger, [outcome({ name: 'applied' })]);
    await installation.pool.query('update subject set applied_seq = $1 where name = $2', [seq + 1, 'applied']);
    expect(await bells('applied')).toBe(1);
  });

  test('no longer than nobody holds something against it on its own account', async () => {
    await leaveAlone('held');
    expect(await bells('held')).toBe(0);
    await readApplied(installation.pool, ['tool:local/held']);
    expect(await headOf('tool:local/held')).toMatchObject({ seq: 2, ring_seq: 2 });
  });

  test('not at all by a scope that the ledger does not know', async () => {
    await leaveAlone('lost', { scope: 'host:of-another-ledger' });
    expect(await bells('lost')).toBe(1);
  });

  test('a server is left alone in the same way, whichever host its calls went to', async () => {
    const unreached = { server: 'flaky', category: 'reachability', severity: 'timeout' } as const;
    await append(ledger, [failure({ name: 'a', ...unreached })]);
    const rest = { scope: '', failures: 4, until: null, rulesVersion };
    await acknowledge(installation.pool, 'server:flaky', 1, 0, rest);
    expect([await bells('a', unreached), await bells('b', { ...unreached, scope: 'dir:/x' })]).toEqual([0, 0]);
    expect(await bells('a', unreached)).toBe(1);
  });
});

test('what comes after a failure to reach concerns the server, in the same flush too', async () => {
  const unreached = () => failure({ server: 'late', name: 'a', severity: 'timeout', category: 'reachability' });
  const served = () => outcome({ server: 'late', name: 'b' });
  await append(ledger, [served(), unreached(), served(), served()]);
  // The first success came while nothing was held against the server.
  expect(await headOf('server:late')).toMatchObject({ outcomes: 3, failures: 1, ring_seq: 2 });
});

test('flushes in any order of tools do not deadlock, and nothing is lost', async () => {
  const names = ['d1', 'd2', 'd3', 'd4', 'd5'];
  const flushes = Array.from({ length: 40 }, (_, index) => {
    const order = names.toSorted(
      (a, b) => ((a.charCodeAt(1) * (index + 3)) % 7) - ((b.charCodeAt(1) * (index + 3)) % 7),
    );
    return append(
      ledgerOf(installation),
      order.map((name) => failure({ server: 'dead', name, category: 'reachability' })),
    );
  });
  await Promise.all(flushes);
  expect(await headOf('server:dead')).toMatchObject({ outcomes: 200, seq: 200 });
});

test('what no database can hold is recorded all the same', async () => {
  const odd = '\0 \ud800 ' + 'x'.repeat(10_000);
  await append(ledger, [failure({ server: odd, name: odd, agent: odd, session: odd, message: odd, callId: 'odd' })]);
  const found = await installation.pool.query("select 1 from ledger where detail ->> 'callId' = 'odd'");
  expect(found.rowCount).toBe(1);
});
