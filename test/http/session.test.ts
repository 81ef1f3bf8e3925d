import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revokeToken } from '../../src/postgres/tokens.ts';
import { createInstallation } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { bearer, serveFor } from './support.ts';

let installation: Installation;
let api: Awaited<ReturnType<typeof serveFor>>;
beforeAll(async () => {
  installation = await createInstallation();
  api = await serveFor(installation);
});
afterAll(async () => {
  await api.close();
  await installation.close();
});

/** What a browser says of a request that our own page makes. */
const ours = () => ({ origin: api.url, 'sec-fetch-site': 'same-origin' });

async function signIn(
  name: string,
): Promise<{ cookie: string; page: Record<string, string>; id: string; attributes: string; secret: string }> {
  const { id, secret } = await api.token(name, ['operator']);
  const answer = await api.call('POST', '/v1/session', ours(), { token: secret });
  expect(answer).toMatchObject({ status: 200, body: { who: { name, roles: ['operator'] } } });
  const [cookie = '', ...attributes] = (answer.headers.get('set-cookie') ?? '').split('; ');
  const page = { 'x-surety-page': String(answer.body['page']) };
  return { cookie, page, id, attributes: attributes.join('; '), secret };
}

describe('signing in', () => {
  test('gives a cookie that no script can read and no other site is sent, and that is not the token', async () => {
    const { cookie, page, attributes, secret } = await signIn('ann');
    expect(attributes).toContain('HttpOnly');
    expect(attributes).toContain('SameSite=Strict');
    expect(attributes).not.toContain('Secure');
    expect(cookie).not.toContain(secret.slice(7));
    expect((await api.call('GET', '/v1/tools', { cookie, ...page })).status).toBe(200);
    expect((await api.call('GET', '/v1/session', { cookie, ...page })).body).toMatchObject({ who: { name: 'ann' } });
    expect((await api.call('GET', '/v1/session', {})).body).toEqual({ who: null });
    const kept = await installation.pool.query<{ text: string }>('select session::text as text from session');
    expect(JSON.stringify(kept.rows)).not.toContain(cookie.split('=')[1]);
    expect(JSON.stringify(kept.rows)).not.toContain(page['x-surety-page']);
  });

  test('gives the page a key of its own, without which the cookie is nothing: a browser sends it to every port', async () => {
    const { cookie, page } = await signIn('careful');
    const other = await signIn('other');
    const write = { rules: {}, comment: 'stolen' };
    for (const shown of [{}, { 'x-surety-page': 'x'.repeat(43) }, { 'x-surety-page': '' }, other.page]) {
      expect((await api.call('GET', '/v1/tools', { cookie, ...shown })).status).toBe(401);
      expect((await api.call('GET', '/v1/session', { cookie, ...shown })).body).toEqual({ who: null });
      expect((await api.call('PUT', '/v1/rules', { cookie, ...shown, ...ours() }, write)).status).toBe(401);
    }
    expect((await api.call('PUT', '/v1/rules', { cookie, ...page, ...ours() }, write)).status).toBe(200);
  });

  test('is secure where the page came by https', async () => {
    const { secret } = await api.token('tls', ['approver']);
    const answer = await api.call(
      'POST',
      '/v1/session',
      { ...ours(), 'x-forwarded-proto': 'https' },
      { token: secret },
    );
    expect(answer.headers.get('set-cookie')).toContain('Secure');
  });

  test('is refused to agents, whatever other roles they have, and to forged tokens', async () => {
    for (const roles of [['agent'], ['agent', 'approver', 'admin']] as const) {
      const { secret } = await api.token('bot', roles);
      const answer = await api.call('POST', '/v1/session', ours(), { token: secret });
      expect(answer).toMatchObject({
        status: 403,
        body: { detail: expect.stringContaining('agents never decide') as string },
      });
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
    expect((await api.call('POST', '/v1/session', ours(), { token: `surety_${'0'.repeat(43)}` })).status).toBe(401);
  });

  test('again and again with the same token is told when to come back', async () => {
    const { secret } = await api.token('hasty', ['approver']);
    await sleep(10_000 - (Date.now() % 10_000));
    const answers = [];
    for (let n = 0; n < 21; n += 1) answers.push(await api.call('POST', '/v1/session', ours(), { token: secret }));
    expect(answers.slice(0, 20).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(answers.at(-1)).toMatchObject({ status: 429, body: { title: 'Too many requests' } });
    expect(Number(answers.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('ends by signing out, for whoever has kept the cookie, too', async () => {
    const { cookie, page } = await signIn('leaving');
    expect((await api.call('DELETE', '/v1/session', { cookie, ...ours() })).body).toEqual({ who: null });
    expect((await api.call('GET', '/v1/session', { cookie, ...page })).body).toEqual({ who: null });
    expect((await api.call('GET', '/v1/tools', { cookie, ...page })).status).toBe(401);
  });

  test('ends by itself, also for whoever only follows events', async () => {
    const { cookie, page, id } = await signIn('forgetful');
    expect((await api.call('GET', '/v1/tools', { cookie, ...page })).status).toBe(200);
    const ended = 'update session set expires_at = clock_timestamp() where token = $1';
    expect((await installation.pool.query(ended, [id])).rowCount).toBe(1);
    await sleep(2100);
    expect((await api.call('GET', '/v1/tools', { cookie, ...page })).status).toBe(401);
    expect((await api.call('GET', '/v1/events', { cookie })).status).toBe(401);
    expect((await api.call('GET', '/v1/session', { cookie, ...page })).body).toEqual({ who: null });
  });

  test('ends with its token', async () => {
    const { cookie, page, id } = await signIn('revoked');
    expect((await api.call('GET', '/v1/tools', { cookie, ...page })).status).toBe(200);
    await revokeToken(installation.pool, id, 't');
    await sleep(2100);
    expect((await api.call('GET', '/v1/tools', { cookie, ...page })).status).toBe(401);
  });
});

describe('a write by cookie', () => {
  const write = { rules: {}, comment: 'by a page' };

  test('is taken from our own page', async () => {
    const { cookie: bare, page } = await signIn('writer');
    const cookie = { cookie: bare, ...page };
    expect((await api.call('PUT', '/v1/rules', { ...cookie, ...ours() }, write)).status).toBe(200);
    // A browser that sends no Sec-Fetch-Site says its origin all the same.
    expect((await api.call('PUT', '/v1/rules', { ...cookie, origin: api.url }, write)).status).toBe(200);
  });

  test.each([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['another port of this machine', { origin: 'http://127.0.0.1:3000', 'sec-fetch-site': 'same-site' }],
    ['another origin, as old browsers say it', { origin: 'https://evil.example' }],
    ['a page without an origin', { origin: 'null' }],
    ['nobody knows where', {}],
  ])('is refused from %s', async (_, headers) => {
    const { cookie: bare, page } = await signIn('victim');
    const cookie = { cookie: bare, ...page };
    const before = await installation.pool.query('select max(version) from rules');
    expect((await api.call('PUT', '/v1/rules', { ...cookie, ...headers }, write)).status).toBe(403);
    expect((await api.call('DELETE', '/v1/session', { ...cookie, ...headers })).status).toBe(403);
    expect((await installation.pool.query('select max(version) from rules')).rows).toEqual(before.rows);
  });

  test('is refused as a form sends it', async () => {
    const { cookie: bare, page } = await signIn('form');
    const cookie = { cookie: bare, ...page };
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const headers = { ...cookie, ...ours(), 'content-type': type };
      expect((await api.call('PUT', '/v1/rules', headers, JSON.stringify(write))).status).toBe(415);
    }
  });

  test('does not ride on a token’s header, and a token needs no origin', async () => {
    const { cookie, secret } = await signIn('mixed');
    expect((await api.call('GET', '/v1/tools', { cookie, authorization: 'Bearer nonsense-nonsense' })).status).toBe(
      401,
    );
    expect((await api.call('PUT', '/v1/rules', bearer(secret), write)).status).toBe(200);
  });
});

describe('the page', () => {
  test('is served under a policy that lets nothing in from elsewhere, and is asked for anew', async () => {
    const page = await fetch(`${api.url}/`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toContain('text/html');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toMatch(/unsafe|http:|https:|\*/);
    const html = await page.text();
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|style=|https?:\/\//);
    for (const [, path = ''] of html.matchAll(/(?:src|href)="(\/[^"#]*)"/g)) {
      expect([path, (await fetch(`${api.url}${path}`)).status]).toEqual([path, 200]);
    }
    const etag = page.headers.get('etag') ?? '';
    expect((await fetch(`${api.url}/`, { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await fetch(`${api.url}/console/other.js`)).headers.get('content-type')).toBe('application/problem+json');
  });
});
