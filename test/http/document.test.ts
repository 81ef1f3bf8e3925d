import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { fail, keyOf, untilStatus } from '../workflow/support.ts';
import { bodyOf, operationsOf, resolved, sample, validator, withAt } from './document.ts';
import type { Document, Operation } from './document.ts';
import { bearer, serveFor } from './support.ts';

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')) as unknown;
const document = read('openapi.json') as Document;
const operations = operationsOf(document);
const isValid = validator(document);

let installation: Installation;
let gate: Gate;
let api: Awaited<ReturnType<typeof serveFor>>;
const secrets = { agent: '', admin: '' };

beforeAll(async () => {
  installation = await createInstallation();
  await installation.startWorker();
  gate = await installation.connect({ agent: 'bot', session: 's' });
  api = await serveFor(installation);
  secrets.agent = (await api.token('bot', ['agent'])).secret;
  secrets.admin = (await api.token('root', ['admin'])).secret;
});
afterAll(async () => {
  await api.close();
  await installation.close();
});

function* patternsIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'pattern' && typeof inner === 'string') yield inner;
    else yield* patternsIn(inner);
  }
}

describe('the description', () => {
  test.each(['openapi.json', 'surety.schema.json'])('%s has patterns that mean what they say', (name) => {
    for (const pattern of patternsIn(read(name))) {
      expect(() => new RegExp(pattern, 'u')).not.toThrow();
      expect(pattern).not.toMatch(/\/[a-z]*$/);
    }
    if (name === 'openapi.json') expect([...patternsIn(read(name))].length).toBeGreaterThan(10);
  });

  test('says of every write that it takes a key, and what may be refused', () => {
    const ofApi = operations.filter(({ path }) => path.startsWith('/v1/') && path !== '/v1/session');
    expect(ofApi.length).toBeGreaterThan(20);
    for (const { path, method, operation } of ofApi) {
      const { responses, parameters = [] } = operation;
      // Whether a call may be made, or a grant used, is judged each time.
      const isKeyed = method !== 'GET' && !/\/(?:check|news|consume)$/.test(path);
      expect([path, Object.keys(responses)]).toEqual([
        path,
        expect.arrayContaining([
          '401',
          '403',
          '429',
          '500',
          '503',
          ...(method === 'GET' ? [] : ['413', '415']),
          ...(isKeyed ? ['422'] : []),
        ]),
      ]);
      expect(parameters.some(({ name }) => name === 'Idempotency-Key')).toBe(isKeyed);
      for (const status of ['429', '503']) expect(responses[status]).toHaveProperty('headers.Retry-After');
    }
  });

  test('has no body that takes what it does not know', () => {
    for (const { path, operation } of operations) {
      const body = bodyOf(operation);
      if (body === undefined) continue;
      expect([path, resolved(document, body).additionalProperties]).toEqual([path, false]);
    }
  });
});

/** Sends it as both, and holds what comes back against the description. */
async function exchange(method: string, path: string, operation: Operation, as: keyof typeof secrets, body: unknown) {
  const answer = await api.call(method, path, bearer(secrets[as]), body);
  const said = `${method} ${path} ${JSON.stringify(body ?? null).slice(0, 300)} -> ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`;
  const described = operation.responses[String(answer.status)];
  expect(described, said).toBeDefined();
  const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
  const shape = described?.content?.[type]?.schema;
  expect(shape, said).toBeDefined();
  if (shape !== undefined) expect(`${said}: ${isValid(shape, answer.body)}`).toBe(`${said}: `);
  const asked = bodyOf(operation);
  if (answer.status < 300 && asked !== undefined) expect(`${said}: ${isValid(asked, body)}`).toBe(`${said}: `);
  return answer;
}

async function held(tool: string): Promise<string> {
  await fail(gate, tool, 3);
  await untilStatus(installation, keyOf(tool), 'ESCALATED');
  return eventually(async () => {
    const asked = await api.call('POST', '/v1/approvals', bearer(secrets.agent), { tool, callId: tool, session: 's' });
    expect(asked.status).toBe(200);
    return String(asked.body['id']);
  });
}

test('no text is too strange for any route, and what is answered is what the description says', async () => {
  const ids: Record<string, string> = { approve: '', deny: '', extend: '', withdraw: '' };
  for (const verb of Object.keys(ids)) ids[verb] = await held(`held-${verb}`);
  const granted = await held('granted');
  const always = { grant: { kind: 'always', covers: 'tool' } };
  await api.call('POST', `/v1/approvals/${granted}/approve`, bearer(secrets.admin), always);
  // Left out: what would make every request about something that is not there.
  const known = { tool: 'held-deny', key: keyOf('held-deny'), toolKey: keyOf('held-deny'), callId: ids['deny'] };
  const leftOut = { server: null, expectedVersion: null, success: null, outcome: null, scope: null };
  let sent = 0;
  const answered = new Set<string>();
  for (const { path, method, operation } of operations) {
    if (path === '/v1/events' || (path === '/v1/session' && method !== 'GET')) continue;
    const verb = path.split('/').at(-1) ?? '';
    const place = path
      .replace('{key}', encodeURIComponent(known.key))
      .replace('{token}', '1')
      .replace('{id}', path.startsWith('/v1/grants') ? granted : (ids[verb] ?? granted));
    // What is reported must not block what is asked about.
    const names = path.endsWith('outcomes') ? { ...known, tool: 'reported' } : known;
    const body = bodyOf(operation);
    const texts = (operation.parameters ?? []).filter(({ in: where }) => where === 'query');
    const paths = [
      place,
      ...['%00', '%ED%A0%80x'].flatMap((text) => [
        ...texts.map(({ name }) => `${place}?${name}=${text}`),
        ...(path.includes('{key}') ? [path.replace('{key}', text)] : []),
      ]),
    ];
    const { value, texts: fields } =
      body === undefined ? { value: undefined, texts: [] } : sample(document, body, { ...names, ...leftOut });
    const full = body === undefined ? undefined : sample(document, body, { ...names, expectedVersion: null });
    const bodies = [
      ...(path.endsWith('/revoke') ? [] : [value]),
      ...['a\0b', '\ud800'].flatMap((text) => [
        ...fields.map((field) => withAt(value, field, text)),
        ...(full?.texts ?? []).map((field) => withAt(full?.value, field, text)),
        ...fields
          .filter((field) => ['deep', 'some'].includes(String(field.at(-1))))
          .map((field) => withAt(value, [...field.slice(0, -1), `${text}key`], 'v')),
      ]),
    ];
    for (const as of ['agent', 'admin'] as const) {
      for (const [to, what] of [
        ...paths.map((to) => [to, value] as const),
        ...bodies.map((b) => [place, b] as const),
      ]) {
        const { status, body: got } = await exchange(method, to, operation, as, what);
        expect([method, to, JSON.stringify(what), status < 500 ? '' : got]).toEqual([
          method,
          to,
          JSON.stringify(what),
          path === '/readyz' ? expect.anything() : '',
        ]);
        answered.add(`${method} ${path} ${status}`);
        sent += 1;
      }
    }
  }
  // It would say nothing of routes that never got as far as to look at a text.
  expect([...answered]).toEqual(
    expect.arrayContaining([
      'GET /v1/tools 200',
      'POST /v1/approvals 200',
      'POST /v1/gate/definitions 200',
      'POST /v1/gate/probes 200',
      'POST /v1/grants/{id}/revoke 200',
    ]),
  );
  expect(sent).toBeGreaterThan(300);
});
