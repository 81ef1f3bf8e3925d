import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toolKey } from '../../src/domain/key/tool-key.ts';
import type { Gate } from '../../src/gate/index.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { fail, keyOf, success, untilStatus } from '../workflow/support.ts';
import { bearer, serveFor } from './support.ts';
import type { Answer } from './support.ts';

let installation: Installation;
let gate: Gate;
let api: Awaited<ReturnType<typeof serveFor>>;
const secrets = { operator: '', approver: '', agent: '' };

beforeAll(async () => {
  installation = await createInstallation({
    toolRules: { manual: { countThreshold: 3, autoRecovery: false, escalationDurationSeconds: 1, cooldownSeconds: 0 } },
  });
  await installation.startWorker();
  gate = await installation.connect({ agent: 'bot' });
  api = await serveFor(installation);
  secrets.operator = (await api.token('otto', ['operator'])).secret;
  secrets.approver = (await api.token('ann', ['approver'])).secret;
  secrets.agent = (await api.token('bot', ['agent'])).secret;
});
afterAll(async () => {
  await api.close();
  await installation.close();
});

const get = (path: string, as: keyof typeof secrets = 'approver') => api.call('GET', path, bearer(secrets[as]));
const post = (path: string, body: unknown, as: keyof typeof secrets = 'operator') =>
  api.call('POST', path, bearer(secrets[as]), body);
const tools = ({ body }: Answer) => body['tools'] as { key: string; state: string; name: string; lately: unknown[] }[];
const at = (key: string, order = '') => `/v1/tools/${encodeURIComponent(key)}${order}`;

async function escalate(tool: string): Promise<string> {
  await fail(gate, tool, 3);
  await untilStatus(installation, keyOf(tool), 'ESCALATED');
  return keyOf(tool);
}

describe('the list', () => {
  test('has those in doubt first, with why, until when, counts and what came lately', async () => {
    await gate.report(success('list-fine'));
    for (let i = 0; i < 30; i += 1) await gate.report(success('list-broken'));
    const key = await escalate('list-broken');
    const answer = await get('/v1/tools?search=LIST-');
    expect(tools(answer).map(({ name }) => name)).toEqual(['list-broken', 'list-fine']);
    expect(tools(answer)[0]).toMatchObject({
      ...{ key, kind: 'tool', server: 'local', state: 'ESCALATED', outcomes: 33, failures: 3 },
      reason: expect.stringContaining('3') as string,
      until: expect.any(String) as string,
      lastFailure: { message: 'upstream exploded', severity: 'server_error' },
    });
    const buckets = tools(answer)[0]?.lately as { outcomes: number; failures: number }[];
    expect(buckets).toHaveLength(20);
    expect(buckets.reduce((sum, { outcomes }) => sum + outcomes, 0)).toBe(33);
    expect(buckets.reduce((sum, { failures }) => sum + failures, 0)).toBe(3);
    expect(buckets.at(-1)).toEqual({ outcomes: 1, failures: 1 });
    expect(answer.body['summary']).toMatchObject({ states: { TRUSTED: expect.any(Number) as number } });
  });

  test('is read page by page without missing or repeating one, also by state', async () => {
    const names = Array.from({ length: 7 }, (_, i) => `page-${i}`);
    for (const name of names) await gate.report(success(name));
    await escalate('page-5');
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const answer = await get(`/v1/tools?search=page-&limit=3${cursor}`);
      seen.push(...tools(answer).map(({ name }) => name));
      if (answer.body['cursor'] === null) break;
      cursor = `&cursor=${answer.body['cursor'] as string}`;
    }
    expect(seen).toEqual(['page-5', 'page-0', 'page-1', 'page-2', 'page-3', 'page-4', 'page-6']);
    const escalated = tools(await get('/v1/tools?state=ESCALATED&limit=100'));
    expect(escalated.map(({ name }) => name)).toContain('page-5');
    expect(new Set(escalated.map(({ state }) => state))).toEqual(new Set(['ESCALATED']));
    expect(tools(await get('/v1/tools?search=page-&state=TRUSTED'))).toHaveLength(6);
    expect((await get('/v1/tools?cursor=nonsense')).status).toBe(400);
    expect(tools(await get(`/v1/tools?search=${encodeURIComponent('%')}`))).toEqual([]);
  });

  test('names what waits for an order to recover', async () => {
    const key = await escalate('manual');
    await eventually(async () => {
      const { body } = await get('/v1/tools');
      expect(body['recoveries']).toMatchObject([{ key, title: 'manual', label: 'all calls' }]);
    });
  });

  test('is not for agents', async () => {
    expect((await get('/v1/tools', 'agent')).status).toBe(403);
    expect((await get(at(keyOf('list-fine')), 'agent')).status).toBe(403);
    expect((await get('/v1/rules', 'agent')).status).toBe(403);
  });
});

describe('one tool', () => {
  test('says why it is where it is, by which rule, since when and what comes next', async () => {
    const key = await escalate('explained');
    await post(at(key, '/block'), { reason: 'incident 42' });
    const { body } = await get(at(key));
    expect(body).toMatchObject({
      ...{ key, state: 'BLOCKED', by: 'otto', partsInDoubt: 1, next: null, serverInDoubt: null },
      rule: { path: 'defaultRule', candidates: [{ won: true }] },
      workflowUrl: `http://127.0.0.1:9/namespaces/n/workflows/${encodeURIComponent(key)}`,
    });
    const timeline = body['timeline'] as { what: string; actor: string; reason: string }[];
    expect(timeline.map(({ what }) => what)).toEqual(expect.arrayContaining(['escalated', 'blocked', 'block ordered']));
    expect(timeline.find(({ what }) => what === 'block ordered')).toMatchObject({
      actor: 'otto',
      reason: 'incident 42',
    });
    expect((body['recent'] as { kind: string }[]).map(({ kind }) => kind)).toEqual([
      'block',
      'failure',
      'failure',
      'failure',
    ]);
  });

  test('is found whatever its name holds', async () => {
    const name = 'a b/c%20d?e#f<img src=x onerror=alert(1)>é';
    await gate.report(success(name, { server: 'srv/1' }));
    const key = toolKey('srv/1', name);
    expect(await get(at(key))).toMatchObject({ status: 200, body: { key, name, server: 'srv/1' } });
    expect((await get(at('tool:local/never'))).status).toBe(404);
  });
});

describe('orders', () => {
  test('reset, block and recover do what they say, with who and why', async () => {
    const key = await escalate('ordered');
    expect((await post(at(key, '/recover'), { reason: 'status page is green' })).body).toEqual({
      outcome: 'applied',
      state: 'RECOVERING',
    });
    expect((await post(at(key, '/block'), { reason: 'no' })).body).toEqual({ outcome: 'applied', state: 'BLOCKED' });
    const refused = await post(at(key, '/recover'), {});
    expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining('reset') as string } });
    expect((await post(at(key, '/reset'), {})).body).toEqual({ outcome: 'applied', state: 'TRUSTED' });
  });

  test('reach one scope where one is named', async () => {
    await gate.report(success('scoped', { args: { url: 'https://a.example/' } }));
    const key = keyOf('scoped');
    await post(at(key, '/block'), { reason: 'wrong data', scope: 'a.example' });
    const { body } = await get(at(key));
    expect(body['parts']).toMatchObject([
      { scope: 'host:a.example', state: 'BLOCKED' },
      { scope: null, state: 'TRUSTED' },
    ]);
  });

  test('are for operators only; a block says why', async () => {
    const key = keyOf('scoped');
    for (const as of ['approver', 'agent'] as const) {
      expect((await post(at(key, '/reset'), {}, as)).status).toBe(403);
    }
    expect((await post(at(key, '/block'), {})).status).toBe(400);
    expect((await post(at('tool:local/never', '/reset'), {})).status).toBe(404);
  });
});

describe('rules', () => {
  test('are published by operators as a version with a name to it, and told in words', async () => {
    const rules = { toolRules: { 'deploy*': { countThreshold: 1, risk: 'destructive' } } };
    const headers = bearer(secrets.operator);
    const before = (await get('/v1/rules')).body['version'];
    const sent = await api.call('PUT', '/v1/rules', headers, { rules, comment: 'careful', expectedVersion: before });
    expect(sent.status).toBe(200);
    expect((await get('/v1/rules')).body).toMatchObject({
      ...{ version: sent.body['version'], publishedBy: 'otto', comment: 'careful', unreadable: null },
      rules: { toolRules: { 'deploy*': { countThreshold: 1 } } },
      resolved: [
        { path: 'toolRules["deploy*"]', level: 'tool' },
        { path: 'defaultRule', level: 'default' },
      ],
    });
    const late = await api.call('PUT', '/v1/rules', headers, { rules: {}, expectedVersion: before });
    expect(late.status).toBe(409);
  });

  test('that are none are refused with every complaint, and nothing is published', async () => {
    const before = (await get('/v1/rules')).body['version'];
    const rules = { toolRules: { x: { countThreshold: -1 } }, unknownKey: 1 };
    const answer = await api.call('PUT', '/v1/rules', bearer(secrets.operator), { rules });
    expect(answer.status).toBe(400);
    expect((answer.body['errors'] as { path: string }[]).map(({ path }) => path)).toContain(
      'toolRules.x.countThreshold',
    );
    expect((await api.call('PUT', '/v1/rules', bearer(secrets.approver), { rules: {} })).status).toBe(403);
    expect((await get('/v1/rules')).body['version']).toBe(before);
  });
});
