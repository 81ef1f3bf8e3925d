import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { serveHttp } from '../../src/http/serve.ts';
import { createToken } from '../../src/postgres/tokens.ts';
import type { Role } from '../../src/postgres/tokens.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { fail, keyOf, untilStatus } from '../workflow/support.ts';

let installation: Installation;
let gate: Gate;
let api: Awaited<ReturnType<typeof serveHttp>>;
const secrets = {} as Record<'agent' | 'approver' | 'operator' | 'admin' | 'both', string>;

beforeAll(async () => {
  installation = await createInstallation();
  await installation.startWorker();
  gate = await installation.connect({ agent: 'bot', session: 's' });
  const make = async (name: string, roles: readonly Role[]) =>
    (await createToken(installation.pool, { name, owner: name === 'bot' ? 'olga' : name, roles, createdBy: 't' }))
      .secret;
  secrets.agent = await make('bot', ['agent']);
  secrets.approver = await make('alice', ['approver']);
  secrets.operator = await make('otto', ['operator']);
  secrets.admin = await make('root', ['admin']);
  secrets.both = await make('sneaky', ['agent', 'approver', 'admin']);
  api = await serveHttp({
    databaseUrl: installation.databaseUrl,
    host: '127.0.0.1',
    port: 0,
    mostRequests: 500,
    temporal: installation.temporal,
  });
});
afterAll(async () => {
  await api.close();
  await installation.close();
});

interface Page {
  readonly grants: readonly { readonly id: string }[];
  readonly cursor: string | null;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

async function call(
  method: string,
  path: string,
  { as, body, headers = {} }: { as?: keyof typeof secrets; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: {
      // Whoever was cut off in one test must not be met on the same connection in the next.
      connection: 'close',
      ...(as === undefined ? {} : { authorization: `Bearer ${secrets[as]}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? {} : JSON.parse(text)) as Answer['body'],
  };
}

async function held(tool: string): Promise<{ id: string; waiting: Promise<unknown> }> {
  await fail(gate, tool, 3);
  await untilStatus(installation, keyOf(tool), 'ESCALATED');
  const waiting = gate.guard(tool, (args: unknown) => args)({ n: 1 });
  waiting.catch(() => undefined);
  return eventually(async () => {
    const { body } = await call('GET', '/v1/approvals?limit=200', { as: 'approver' });
    const found = (body['approvals'] as { id: string; tool: string }[]).find((one) => one.tool === tool);
    if (found === undefined) throw new Error('not asked yet');
    return { id: found.id, waiting };
  });
}

describe('who asks', () => {
  test('is told apart by a token; without one, or with a forged one, nobody gets in', async () => {
    for (const headers of [
      {},
      { authorization: 'Bearer surety_0000000000000000000000000000000000000000000' },
      { authorization: `Basic ${secrets.admin}` },
      { authorization: `Bearer ${secrets.admin.slice(0, -1)}` },
    ]) {
      const answer = await call('GET', '/v1/approvals', { headers });
      expect(answer).toMatchObject({ status: 401, body: { title: 'Not authenticated', status: 401 } });
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  test('by an agent’s token never decides, on any route that does, whatever its roles', async () => {
    const { id, waiting } = await held('routes');
    const document = (await call('GET', '/openapi.json')).body as {
      paths: Record<string, Record<string, { requestBody?: unknown }>>;
    };
    const deciding = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => method !== 'get')
        .map((method) => ({ path, method })),
    );
    // Signing in and out decides nothing; an agent is refused there, too (see session.test.ts).
    const agents = [
      '/v1/check',
      '/v1/outcomes',
      '/v1/approvals',
      '/v1/approvals/{id}/withdraw',
      '/v1/grants/{id}/consume',
      '/v1/session',
    ];
    const forbidden = deciding.filter(({ path }) => !agents.includes(path) && !path.startsWith('/v1/gate/'));
    expect(forbidden.length).toBeGreaterThanOrEqual(4);
    for (const { path, method } of forbidden) {
      for (const as of ['agent', 'both'] as const) {
        const answer = await call(method.toUpperCase(), path.replace('{id}', id), {
          as,
          body: { reason: '', seconds: 5 },
        });
        expect([path, answer.status]).toEqual([path, 403]);
      }
    }
    expect((await call('GET', `/v1/approvals/${id}`, { as: 'approver' })).body).toMatchObject({
      status: 'pending',
      version: 1,
    });
    await call('POST', `/v1/approvals/${id}/deny`, { as: 'approver', body: {} });
    await expect(waiting).rejects.toThrow('denied by alice');
  });

  test('with what is no token, again and again, is not even looked up, and keeps nobody out who is known', async () => {
    const { databaseUrl } = installation;
    const besieged = await serveHttp({ databaseUrl, host: '127.0.0.1', port: 0 });
    const origin = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', connection: 'close' };
    const knock = (path: string, secret: string) =>
      path === '/v1/session'
        ? fetch(`${besieged.url}${path}`, { method: 'POST', headers: origin, body: JSON.stringify({ token: secret }) })
        : fetch(`${besieged.url}${path}`, { headers: { authorization: `Bearer ${secret}`, connection: 'close' } });
    const forged = (n: number) => `surety_${String(n).padStart(43, '0')}`;
    await sleep(10_000 - (Date.now() % 10_000));
    expect((await knock('/v1/tools', secrets.admin)).status).toBe(200);
    const statuses: number[] = [];
    for (let n = 0; n < 60; n += 1) statuses.push((await knock(n % 2 ? '/v1/session' : '/v1/tools', forged(n))).status);
    expect(statuses.slice(0, 50)).toEqual(Array.from({ length: 50 }, () => 401));
    expect(statuses.slice(50)).toEqual(Array.from({ length: 10 }, () => 429));
    const refused = await knock('/v1/session', secrets.approver);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await knock('/v1/tools', secrets.admin)).status).toBe(200);
    await besieged.close();
  });

  test('may do what the role says', async () => {
    expect((await call('GET', '/v1/approvals', { as: 'agent' })).status).toBe(403);
    expect((await call('GET', '/v1/grants', { as: 'operator' })).status).toBe(200);
    const { id } = await held('roles');
    expect((await call('POST', `/v1/approvals/${id}/approve`, { as: 'operator', body: {} })).status).toBe(403);
    expect((await call('POST', `/v1/approvals/${id}/approve`, { as: 'admin', body: {} })).status).toBe(200);
  });

  test('too often is told when to come back, whatever server and connection it comes by', async () => {
    const { secret } = await createToken(installation.pool, {
      name: 'eager',
      owner: 'e',
      roles: ['agent'],
      createdBy: 't',
    });
    const offer = () =>
      serveHttp({ databaseUrl: installation.databaseUrl, host: '127.0.0.1', port: 0, mostRequests: 20 });
    const [one, another] = [await offer(), await offer()];
    const headers = { authorization: `Bearer ${secret}`, connection: 'close', 'content-type': 'application/json' };
    const ask = async (url: string, times: number) => {
      const sent = { method: 'POST', headers, body: '{"tool":"t"}' };
      return Promise.all(Array.from({ length: times }, () => fetch(`${url}/v1/check`, sent)));
    };
    // Counts are of ten seconds and settled between servers every second.
    await sleep(10_000 - (Date.now() % 10_000));
    expect((await ask(one.url, 12)).map(({ status }) => status)).not.toContain(429);
    await sleep(1500);
    expect((await ask(another.url, 2)).map(({ status }) => status)).not.toContain(429);
    await sleep(1500);
    const refused = (await ask(another.url, 12)).filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    await one.close();
    await another.close();
  });
});

describe('an agent', () => {
  test('asks before a call and reports after it, under its own name', async () => {
    const decision = await call('POST', '/v1/check', { as: 'agent', body: { tool: 'fresh', args: { a: 1 } } });
    expect(decision).toMatchObject({ status: 200, body: { decision: 'allow' } });
    const outcomes = [
      { tool: 'http_tool', result: { ok: true }, callId: 'one', agent: 'somebody-else' },
      { tool: 'http_tool', success: false, severity: 'server_error', callId: 'two', at: new Date().toISOString() },
    ];
    const reported = await call('POST', '/v1/outcomes', { as: 'agent', body: { outcomes } });
    expect(reported).toMatchObject({ status: 200, body: { callIds: ['one', 'two'] } });
    await call('POST', '/v1/outcomes', { as: 'agent', body: { outcomes } });
    const rows = await installation.pool.query<{ agent: string }>(
      'select n.text as agent from ledger l join subject s on s.id = l.subject join name n on n.id = l.agent where s.name = $1',
      ['http_tool'],
    );
    expect(rows.rows).toEqual([{ agent: 'bot' }, { agent: 'bot' }]);
  });

  test('is told when to ask again', async () => {
    await fail(gate, 'cooling', 3);
    await untilStatus(installation, keyOf('cooling'), 'ESCALATED');
    await eventually(async () => {
      const answer = await call('POST', '/v1/check', { as: 'agent', body: { tool: 'cooling' } });
      expect(answer.body).toMatchObject({ decision: 'ask', via: 'person' });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    });
  });

  test('waits for its own question and sees no other', async () => {
    const { id: byNoToken } = await held('watched');
    const asked = await call('POST', '/v1/approvals', { as: 'agent', body: { tool: 'watched', args: { n: 1 } } });
    const id = String(asked.body['id']);
    expect((await call('GET', `/v1/approvals/${id}`, { as: 'both' })).status).toBe(404);
    expect((await call('GET', `/v1/approvals/${byNoToken}`, { as: 'agent' })).status).toBe(404);
    const unknown = '01a1e85a-0000-7000-8000-000000000000';
    // Neither is waited for: how long it takes would tell whether there is one.
    const begun = Date.now();
    for (const other of [id, unknown]) {
      expect((await call('GET', `/v1/approvals/${other}?wait=30`, { as: 'both' })).status).toBe(404);
    }
    expect(Date.now() - begun).toBeLessThan(25_000);
    const waiting = call('GET', `/v1/approvals/${id}?wait=20`, { as: 'agent' });
    await call('POST', `/v1/approvals/${id}/approve`, { as: 'approver', body: { reason: 'ok' } });
    expect((await waiting).body).toMatchObject({ status: 'approved', endedBy: 'alice', verified: true });
  });
});

describe('a decision', () => {
  test('on something that changed is refused with what changed', async () => {
    const { id } = await held('moved');
    expect((await call('POST', `/v1/approvals/${id}/extend`, { as: 'approver', body: { seconds: 60 } })).status).toBe(
      200,
    );
    const stale = await call('POST', `/v1/approvals/${id}/approve`, { as: 'approver', body: { expectedVersion: 1 } });
    expect(stale).toMatchObject({
      status: 409,
      body: { title: 'Refused', detail: expect.stringContaining('now version 2') as string },
    });
  });

  test('is done once under its key, and answered the same', async () => {
    const { id } = await held('keyed');
    const headers = { 'idempotency-key': 'k-1' };
    const first = await call('POST', `/v1/approvals/${id}/extend`, { as: 'approver', body: { seconds: 60 }, headers });
    const again = await call('POST', `/v1/approvals/${id}/extend`, { as: 'approver', body: { seconds: 60 }, headers });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.headers.get('content-type')).toContain('application/json');
    expect((await call('GET', `/v1/approvals/${id}`, { as: 'approver' })).body['version']).toBe(2);
    const other = await call('POST', `/v1/approvals/${id}/extend`, { as: 'approver', body: { seconds: 61 }, headers });
    expect(other.status).toBe(422);
  });

  test('with edited arguments is what the agent runs; a forged digest is nothing', async () => {
    const { id, waiting } = await held('edited');
    const approve = (body: unknown) => call('POST', `/v1/approvals/${id}/approve`, { as: 'approver', body });
    // What is not known is not overlooked: whoever misspells what they decide must not decide something else.
    for (const [body, named] of [
      [{ editDigest: 'f'.repeat(64), edit: { n: 2 } }, 'editDigest'],
      [{ edits: { n: 2 } }, 'edits'],
      [{ expectedversion: 99 }, 'expectedversion'],
      [{ grant: { kind: 'always', cover: 'tool' } }, 'cover'],
    ] as const) {
      const refused = await approve(body);
      expect(refused.status).toBe(400);
      expect(JSON.stringify(refused.body['errors'])).toContain(named);
    }
    expect((await approve({ edit: { n: 2 } })).status).toBe(200);
    expect(await waiting).toEqual({ n: 2 });
    expect((await call('GET', `/v1/approvals/${id}`, { as: 'approver' })).body).toMatchObject({
      arguments: { n: 1 },
      edited: { arguments: { n: 2 } },
    });
  });

  test('is never made by a GET', async () => {
    const { id } = await held('got');
    for (const verb of ['approve', 'deny', 'withdraw']) {
      const answer = await call('GET', `/v1/approvals/${id}/${verb}`, { as: 'approver' });
      expect(answer).toMatchObject({ status: 405, body: { title: 'Method not allowed' } });
      expect(answer.headers.get('allow')).toBe('POST');
    }
    expect((await call('GET', `/v1/approvals/${id}`, { as: 'approver' })).body['status']).toBe('pending');
  });
});

describe('what is sent', () => {
  test.each([
    ['no JSON', '{', 400],
    ['unknown fields of an outcome', { outcomes: [{ tool: 't', sucess: true }] }, 400],
    ['nothing', { outcomes: [] }, 400],
    ['too much', { outcomes: Array.from({ length: 1001 }, () => ({ tool: 't' })) }, 400],
    ['a body that is too large', JSON.stringify({ outcomes: [{ tool: 't', context: 'x'.repeat(2_100_000) }] }), 413],
  ])('%s is refused with a word, and nothing inside is shown', async (_, body, status) => {
    const answer = await call('POST', '/v1/outcomes', { as: 'agent', body });
    expect(answer.status).toBe(status);
    if (status === 413) {
      expect(answer.headers.get('connection')).toBe('close');
      expect(answer.body['detail']).toMatch(/at most 2000000 bytes.*several requests.*a path, or a URL/);
    }
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(JSON.stringify(answer.body)).not.toMatch(/at .*\.(ts|js):\d/);
  });

  test('what is no JSON is no decision without a word', async () => {
    const { id } = await held('formed');
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json-patch+json',
      'application/json ;',
    ];
    for (const type of ['', ...types]) {
      const headers = { 'content-type': type };
      const answer = await call('POST', `/v1/approvals/${id}/deny`, { as: 'approver', body: '{}', headers });
      expect(answer.status).toBe(415);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
    }
    expect((await call('GET', `/v1/approvals/${id}`, { as: 'approver' })).body['status']).toBe('pending');
  });

  test('without saying what it is, is not read, and trying again is not advised', async () => {
    const { hostname, port } = new URL(api.url);
    const headers = { authorization: `Bearer ${secrets.agent}`, 'content-length': '12' };
    const answer = await new Promise<IncomingMessage>((done) => {
      request({ hostname, port, path: '/v1/check', method: 'POST', headers }, done).end('{"tool":"t"}');
    });
    answer.resume();
    expect(answer.statusCode).toBe(415);
    expect(answer.headers['retry-after']).toBeUndefined();
  });

  test('whether a call may be made is judged anew, also under the same key', async () => {
    const ask = () =>
      call('POST', '/v1/check', { as: 'agent', body: { tool: 'rejudged' }, headers: { 'idempotency-key': 'k-same' } });
    expect((await ask()).body['decision']).toBe('allow');
    await fail(gate, 'rejudged', 3);
    await untilStatus(installation, keyOf('rejudged'), 'ESCALATED');
    await eventually(async () => {
      const again = await ask();
      expect(again.body['decision']).toBe('ask');
      expect(again.headers.get('idempotency-replayed')).toBeNull();
      expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(0);
    });
  });

  test('for a list is answered page by page, each grant once', async () => {
    for (const tool of ['paged-a', 'paged-b', 'paged-c']) {
      const { id } = await held(tool);
      await call('POST', `/v1/approvals/${id}/approve`, { as: 'approver', body: { grant: 'always' } });
    }
    const all = (await call('GET', '/v1/grants?all=true&limit=500', { as: 'approver' })).body as unknown as Page;
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const page = (await call('GET', `/v1/grants?all=true&limit=2${cursor}`, { as: 'approver' }))
        .body as unknown as Page;
      seen.push(...page.grants.map(({ id }) => id));
      if (page.cursor === null) break;
      cursor = `&cursor=${page.cursor}`;
    }
    expect(all.grants.length).toBeGreaterThanOrEqual(3);
    expect(seen).toEqual(all.grants.map(({ id }) => id));
    expect((await call('GET', '/v1/grants?cursor=nonsense', { as: 'approver' })).status).toBe(400);
    const unknown = `/v1/approvals?status=decided&cursor=${randomUUID()}`;
    for (const path of [unknown, `${unknown}&search=x`, '/v1/approvals?cursor=nonsense']) {
      const answer = await call('GET', path, { as: 'approver' });
      expect(answer.status, path).toBe(400);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
    }
  });

  test('as a search finds questions by what is shown of them, and no secret by its letters', async () => {
    await fail(gate, 'sought', 3);
    await untilStatus(installation, keyOf('sought'), 'ESCALATED');
    const args = { to: 'Needle@example.com', api_key: 'sk-abcdefghijklmnopqrstuvwx' };
    const waiting = gate.guard('sought', (given: unknown) => given)(args);
    waiting.catch(() => undefined);
    const find = async (search: string) => {
      const { body } = await call('GET', `/v1/approvals?search=${search}`, { as: 'approver' });
      return (body['approvals'] as { tool: string }[]).map(({ tool }) => tool);
    };
    await eventually(async () => expect(await find('needle@')).toEqual(['sought']));
    expect(await find('sought')).toEqual(['sought']);
    expect(await find('abcdefghijklmnop')).toEqual([]);
  });

  test('to where nothing is, is told so', async () => {
    const nowhere = await call('GET', '/v1/nothing', { as: 'admin' });
    expect(nowhere).toMatchObject({ status: 404, body: { title: 'Not found' } });
    expect(nowhere.headers.get('content-type')).toBe('application/problem+json');
    expect((await call('DELETE', '/v1/approvals', { as: 'admin' })).headers.get('allow')).toBe('GET, POST');
    expect((await call('POST', '/healthz')).status).toBe(405);
  });

  test('meets our own mistake: nobody outside learns more than that, and whoever runs it does', async () => {
    const told: string[] = [];
    const { databaseUrl, pool } = installation;
    const broken = await serveHttp({ databaseUrl, host: '127.0.0.1', port: 0, log: (message) => told.push(message) });
    await pool.query('alter table approval_grant rename column pattern to pattern_renamed');
    const answer = await fetch(`${broken.url}/v1/grants`, { headers: { authorization: `Bearer ${secrets.admin}` } });
    await pool.query('alter table approval_grant rename column pattern_renamed to pattern');
    expect(answer.status).toBe(500);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(await answer.text()).not.toMatch(/pattern|column|stack/);
    expect(told).toEqual([expect.stringContaining('GET /v1/grants: ')]);
    await broken.close();
  });

  test('a body without end is cut off', async () => {
    const { hostname, port } = new URL(api.url);
    const status = await new Promise<number | undefined>((done) => {
      const sent = request(
        {
          hostname,
          port,
          path: '/v1/outcomes',
          method: 'POST',
          headers: { authorization: `Bearer ${secrets.agent}`, 'content-type': 'application/json' },
        },
        (response) => done(response.statusCode),
      );
      sent.on('error', () => done(undefined));
      const chunk = 'x'.repeat(100_000);
      const more = () => {
        if (!sent.destroyed) sent.write(chunk, () => setImmediate(more));
      };
      more();
    });
    expect([413, undefined]).toContain(status);
  });
});

describe('the description', () => {
  test('is the committed one', async () => {
    const committed = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as unknown;
    expect((await call('GET', '/openapi.json')).body).toEqual(committed);
  });

  test('headers keep a page from doing anything with it', async () => {
    const { headers } = await call('GET', '/healthz');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('health', () => {
  test('says which part is there', async () => {
    expect((await call('GET', '/healthz')).body).toEqual({ ok: true });
    await eventually(async () =>
      expect(await call('GET', '/readyz')).toMatchObject({
        status: 200,
        body: { ready: true, parts: { postgres: 'up', temporal: 'up', worker: 'up' } },
      }),
    );
    const nowhere = { address: '127.0.0.1:1', namespace: 'x', connectionOptions: { address: '127.0.0.1:1' } };
    const lonely = await serveHttp({
      ...{ databaseUrl: installation.databaseUrl, host: '127.0.0.1', port: 0, temporal: nowhere },
    });
    const answer = await fetch(`${lonely.url}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({ ready: false, parts: { postgres: 'up', temporal: 'down', worker: 'up' } });
    await lonely.close();
  });

  test('beyond this machine nothing is offered without tokens', async () => {
    const bare = await createInstallation();
    await expect(serveHttp({ databaseUrl: bare.databaseUrl, host: '0.0.0.0', port: 0 })).rejects.toThrow(
      'there are no tokens',
    );
    await bare.close();
  });
});
