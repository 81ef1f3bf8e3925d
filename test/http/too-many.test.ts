import { afterAll, beforeAll, expect, test } from 'vitest';
import { TooManyQuestions } from '../../src/gate/index.ts';
import { decideAs } from '../support/decide-as.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { post } from './as-agent.ts';
import type { Place } from './as-agent.ts';

const MOST = 3;
let installation: Installation;
let eager: Place;

beforeAll(async () => {
  const destructive = { risk: 'destructive' };
  installation = await createInstallation({ maxOpenQuestions: MOST, toolRules: { 'wipe-*': destructive } });
  await installation.startWorker();
  eager = await installation.remote('eager');
});
afterAll(() => installation.close());

const asking = (n: number) => ({ tool: 'pay', args: { n }, because: 'it looks odd' });

test('of many questions at once no more are asked than one agent may have, and none that is open is lost', async () => {
  const racers = await Promise.all(
    Array.from({ length: 12 }, async (_, n) => {
      const headers = { authorization: `Bearer ${eager.token}`, 'content-type': 'application/json' };
      const body = JSON.stringify(asking(n));
      const response = await fetch(`${eager.url}/v1/approvals`, { method: 'POST', headers, body });
      return { n, response, body: (await response.json()) as Record<string, unknown> };
    }),
  );
  const [asked, refused] = [200, 429].map((status) => racers.filter(({ response }) => response.status === status));
  expect(asked).toHaveLength(MOST);
  expect(refused).toHaveLength(12 - MOST);
  for (const { response, body } of refused ?? []) {
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(body['detail']).toMatch(/^eager has 3 open questions.*maxOpenQuestions.*decided, or withdraw/);
  }
  // What is open is found again, and others have room of their own.
  const { n = 0, body: first = {} } = asked?.[0] ?? {};
  expect((await post(eager, '/v1/approvals', asking(n))).body).toMatchObject({ id: first['id'], asked: 2 });
  expect((await post(await installation.remote('calm'), '/v1/approvals', asking(n))).status).toBe(200);
  const left = await installation.pool.query("select 1 from approval where agent = 'eager' and status = 'pending'");
  expect(left.rowCount).toBe(MOST);

  await decideAs(installation.pool, { approval: String(first['id']), verb: 'deny', by: 'alice', reason: '' });
  await eventually(async () => expect((await post(eager, '/v1/approvals', asking(99))).status).toBe(200));
});

test.each(['ledger', 'http'] as const)('a guarded call beyond that is refused at once over %s', async (way) => {
  const agent = `busy-${way}`;
  const gate = await installation.connect({ agent, ...(way === 'http' ? await installation.remote(agent) : {}) });
  const wipe = gate.guard(`wipe-${way}`, ({ disk }: { disk: number }) => disk);
  const waiting = Array.from({ length: MOST }, (_, disk) => wipe({ disk }));
  const open = async () =>
    (
      await installation.pool.query<{ id: string }>(
        "select id from approval where agent = $1 and status = 'pending' order by id",
        [agent],
      )
    ).rows.map(({ id }) => id);
  await eventually(async () => expect(await open()).toHaveLength(MOST));
  const refused = wipe({ disk: 99 });
  await expect(refused).rejects.toBeInstanceOf(TooManyQuestions);
  await expect(refused).rejects.toThrow(/busy-\w+ has 3 open questions/);
  for (const approval of await open()) {
    await decideAs(installation.pool, { approval, verb: 'approve', by: 'alice', reason: '' });
  }
  expect(await Promise.all(waiting)).toEqual([0, 1, 2]);
});
