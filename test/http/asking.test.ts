import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { approvalWorkflowId } from '../../src/domain/approval/identity.ts';
import type { Gate } from '../../src/gate/index.ts';
import { connect } from '../../src/gate/index.ts';
import { createToken } from '../../src/postgres/tokens.ts';
import { decideAs } from '../support/decide-as.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { fail, keyOf, untilStatus } from '../workflow/support.ts';
import { escalate, get, post } from './as-agent.ts';
import type { Place } from './as-agent.ts';

let installation: Installation;
let gate: Gate;
let bot: Place;
let rival: Place;

beforeAll(async () => {
  installation = await createInstallation();
  await installation.startWorker();
  gate = await installation.connect();
  bot = await installation.remote('bot');
  rival = await installation.remote('rival');
});
afterAll(() => installation.close());

const escalated = (tool: string) => escalate(installation, gate, bot, tool);

describe('an agent without the library', () => {
  test('checks, asks, waits, runs under the grant once, and reports', async () => {
    await escalated('pay');
    const call = { tool: 'pay', args: { amount: 12 }, session: 's', callId: 'call-1' };
    const asked = await post(bot, '/v1/approvals', { ...call, because: 'my terms', agent: 'somebody-else' });
    expect(asked).toMatchObject({ status: 200, body: { agent: 'bot', status: 'pending', arguments: { amount: 12 } } });
    // What is held is said by whoever holds it, not by the agent.
    expect(asked.body['because']).toContain('failures');
    expect((await post(bot, '/v1/approvals', call)).body).toMatchObject({ id: asked.body['id'], asked: 2 });

    const id = asked.body['id'] as string;
    const waiting = get(bot, `/v1/approvals/${id}?wait=20`);
    await decideAs(installation.pool, { approval: id, verb: 'approve', by: 'alice', reason: '' });
    expect((await waiting).body).toMatchObject({ status: 'approved' });

    const { tool: _, ...use } = call;
    expect((await post(rival, `/v1/grants/${id}/consume`, use)).status).toBe(409);
    const racers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => post(bot, `/v1/grants/${id}/consume`, { ...use, callId: `call-${n}` })),
    );
    const winners = racers.flatMap(({ status }, n) => (status === 200 ? [n] : []));
    expect(winners).toHaveLength(1);
    const callId = `call-${winners[0]}`;
    expect((await post(bot, `/v1/grants/${id}/consume`, { ...use, callId })).status).toBe(200);
    const outcomes = [{ tool: 'pay', callId, grant: id, result: { ok: true } }];
    expect((await post(bot, '/v1/outcomes', { outcomes })).status).toBe(200);
    // Once it has run it is over, also for the call that had it.
    expect((await post(bot, `/v1/grants/${id}/consume`, { ...use, callId })).status).toBe(409);
  });

  test('tells nobody of a token that stands in the name of a tool', async () => {
    const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyzAB';
    const call = { server: `s-${secret}`, tool: `pay-${secret}`, args: {}, callId: 'named-1', because: 'ask anyway' };
    const { status, body } = await post(bot, '/v1/approvals', call);
    expect(status).toBe(200);
    expect(body).toMatchObject({ server: 's-[redacted]', tool: 'pay-[redacted]' });
    const { rows } = await installation.pool.query<{ identity: string; ordinal: number }>(
      'select * from approval where id = $1',
      [body['id']],
    );
    expect(JSON.stringify(rows)).not.toContain(secret);
    const workflowId = approvalWorkflowId(rows[0]?.identity ?? '', rows[0]?.ordinal ?? 0);
    const workflow = installation.client.workflow.getHandle(workflowId);
    const history = await eventually(async () => inClear(await workflow.fetchHistory()));
    expect(history).toContain('pay-[redacted]');
    expect(history).not.toContain(secret);
  });

  test('runs once under the tool that was granted, and cannot name another', async () => {
    await escalated('transfer');
    const call = { tool: 'transfer', args: { amount: 12 }, session: 's', callId: 'transfer-1' };
    const { body } = await post(bot, '/v1/approvals', call);
    const id = String(body['id']);
    await decideAs(installation.pool, { approval: id, verb: 'approve', by: 'alice', reason: '' });
    await eventually(async () => expect((await get(bot, `/v1/approvals/${id}`)).body['status']).toBe('approved'));
    const consume = (more: object) => post(bot, `/v1/grants/${id}/consume`, { callId: call.callId, ...more });
    expect((await consume({ digest: 'f'.repeat(64) })).status).toBe(409);
    expect((await consume({ tool: 'another', server: 'elsewhere' })).status).toBe(400);
    expect((await consume({})).status).toBe(200);
    const outcomes = [{ tool: 'transfer', callId: call.callId, grant: id, result: { ok: true } }];
    expect((await post(bot, '/v1/outcomes', { outcomes })).status).toBe(200);
    expect((await consume({})).status).toBe(409);
  });

  test('gets what a person has put in place of its arguments for these alone, however wide the grant', async () => {
    await escalated('resize');
    const asked = await post(bot, '/v1/approvals', { tool: 'resize', args: { to: 99 }, callId: 'resize-1' });
    const [id, digest] = [String(asked.body['id']), String(asked.body['digest'])];
    const wide = { grant: { kind: 'always', covers: 'tool' }, edit: { to: 9 } } as const;
    await decideAs(installation.pool, { approval: id, verb: 'approve', by: 'alice', reason: '', ...wide });
    await eventually(async () => expect((await get(bot, `/v1/approvals/${id}`)).body['status']).toBe('approved'));
    const consume = async (callId: string, more: object) =>
      (await post(bot, `/v1/grants/${id}/consume`, { callId, ...more })).body['edited'];
    expect(await consume('resize-1', { digest })).toMatchObject({ args: { to: 9 } });
    expect(await consume('resize-1', {})).toMatchObject({ args: { to: 9 } });
    expect(await consume('resize-2', { args: { to: 5 } })).toBeNull();
    // What a wide grant is used for has to be said.
    expect(await consume('resize-3', { digest: 'f'.repeat(64) })).toBeUndefined();
  });

  test('is told that nobody needs to be asked, unless it has a reason of its own', async () => {
    expect(await post(bot, '/v1/approvals', { tool: 'harmless' })).toMatchObject({ status: 409 });
    const asked = await post(bot, '/v1/approvals', { tool: 'harmless', because: 'the amount looks odd' });
    expect(asked.body).toMatchObject({ status: 'pending', because: 'the agent says: the amount looks odd' });
    // Once, also where a gate in between has said so.
    const again = { tool: 'harmless', args: { n: 1 }, because: 'the agent says: the amount looks odd' };
    expect((await post(bot, '/v1/approvals', again)).body['because']).toBe('the agent says: the amount looks odd');
  });

  test('a token in the name of its session is nowhere read, and sessions stay apart', async () => {
    await escalated('sessioned');
    const [one, other] = ['a', 'b'].map((letter) => `run ghp_${letter.repeat(20)}`);
    const call = { tool: 'sessioned', args: {}, session: one };
    const asked = await post(bot, '/v1/approvals', call);
    const id = asked.body['id'] as string;
    expect(asked.body['session']).toMatch(/^run \[redacted [0-9a-f]{16}\]$/);
    expect((await post(bot, '/v1/approvals', call)).body).toMatchObject({ id, asked: 2 });
    const grant = { kind: 'session' } as const;
    await decideAs(installation.pool, { approval: id, verb: 'approve', by: 'alice', reason: '', grant });
    const answer = async (session: string | undefined) =>
      (await post(bot, '/v1/check', { ...call, session })).body['decision'];
    await eventually(async () => expect(await answer(one)).toBe('allow'));
    expect(await answer(other)).toBe('ask');
    const found = await installation.pool.query<{ session: string }>(
      'select session from approval_grant where id = $1',
      [id],
    );
    expect(found.rows[0]?.session).toBe(asked.body['session']);
  });

  test('a credential in what a grant matches is refused, by API and by signal', async () => {
    await escalated('patterned');
    const person = { name: 'pat', owner: 'pat', roles: ['approver'] as const, createdBy: 'test' };
    const { secret } = await createToken(installation.pool, person);
    const asked = await post(bot, '/v1/approvals', { tool: 'patterned', args: { url: 'https://a.test/' } });
    const id = asked.body['id'] as string;
    const grant = { kind: 'always', pattern: { url: `*ghp_${'A'.repeat(20)}*` } };
    const refused = await post({ ...bot, token: secret }, `/v1/approvals/${id}/approve`, { grant });
    expect(refused.status).toBe(400);
    expect(refused.body['detail']).toMatch(/the pattern for url holds a credential.*put \* where/);
    const run = await installation.pool.query<{ identity: string; ordinal: number }>(
      'select identity, ordinal from approval where id = $1',
      [id],
    );
    const { identity = '', ordinal = 0 } = run.rows[0] ?? {};
    const handle = installation.client.workflow.getHandle(approvalWorkflowId(identity, ordinal));
    await handle.signal('approve', { by: 'ann', grant });
    await eventually(async () => {
      const said = await installation.pool.query(
        "select 1 from audit where detail::text || reason like '%the pattern for url%'",
      );
      expect(said.rowCount).toBe(1);
    });
    expect((await get(bot, `/v1/approvals/${id}`)).body['status']).toBe('pending');
  });

  test('with other roles besides sees its own questions, in the list as one by one', async () => {
    const both = { name: 'bot', owner: 'olga', roles: ['agent', 'admin'] as const, createdBy: 'test' };
    const { secret } = await createToken(installation.pool, both);
    const place = { ...bot, token: secret };
    const own = await post(bot, '/v1/approvals', { tool: 'listed', because: 'mine' });
    const others = await post(rival, '/v1/approvals', { tool: 'listed', because: 'not mine' });
    expect((await get(place, `/v1/approvals/${others.body['id'] as string}`)).status).toBe(404);
    expect((await get(place, `/v1/approvals/${own.body['id'] as string}`)).status).toBe(200);
    const { approvals, pending } = (await get(place, '/v1/approvals?limit=200')).body as {
      approvals: { id: string; agent: string }[];
      pending: number;
    };
    expect(new Set(approvals.map(({ agent }) => agent))).toEqual(new Set(['bot']));
    expect(approvals).toHaveLength(pending);
    expect(approvals.map(({ id }) => id)).toContain(own.body['id']);
    const decided = (await get(place, '/v1/approvals?status=decided')).body['approvals'] as { agent: string }[];
    expect(decided.filter(({ agent }) => agent !== 'bot')).toEqual([]);
  });

  test('sees what its owner has asked, however that is spelt, in the list as one by one', async () => {
    const roles = ['agent', 'approver'] as const;
    const places: Place[] = [];
    // A database that folds letters by itself takes these for two people.
    for (const owner of ['Straße', 'STRASSE']) {
      const { secret } = await createToken(installation.pool, { name: 'speller', owner, roles, createdBy: 'test' });
      places.push({ ...bot, token: secret });
    }
    const { body } = await post(places[0] ?? bot, '/v1/approvals', { tool: 'spelt', because: 'mine' });
    for (const place of places) {
      expect((await get(place, `/v1/approvals/${String(body['id'])}`)).status).toBe(200);
      expect((await get(place, '/v1/approvals')).body).toMatchObject({ pending: 1, approvals: [{ id: body['id'] }] });
    }
  });

  test('asking again under its key finds the question, and is told what has become of it', async () => {
    await escalated('keyed');
    const headers = {
      authorization: `Bearer ${bot.token}`,
      'content-type': 'application/json',
      'idempotency-key': 'ask-1',
    };
    const ask = async () => {
      const body = JSON.stringify({ tool: 'keyed', args: { n: 1 } });
      const response = await fetch(`${bot.url}/v1/approvals`, { method: 'POST', headers, body });
      const replayed = response.headers.get('idempotency-replayed');
      return { replayed, ...((await response.json()) as { id: string; status: string; asked: number }) };
    };
    const { id, ...first } = await ask();
    expect(first).toMatchObject({ replayed: null, status: 'pending', asked: 1 });
    expect(await ask()).toMatchObject({ id, replayed: 'true', status: 'pending', asked: 1 });
    await decideAs(installation.pool, { approval: id, verb: 'approve', by: 'alice', reason: '' });
    await eventually(async () => expect(await ask()).toMatchObject({ id, status: 'approved' }));
    // Also once it is used up, where asking without the key would ask anew.
    await post(bot, `/v1/grants/${id}/consume`, { callId: 'keyed-1' });
    await post(bot, '/v1/outcomes', { outcomes: [{ tool: 'keyed', callId: 'keyed-1', result: { ok: true } }] });
    expect(await ask()).toMatchObject({ id, replayed: 'true', status: 'approved', asked: 1 });
  });

  test('is told that nobody could allow it', async () => {
    await escalated('doomed');
    await installation.client.workflow
      .getHandle(keyOf('doomed'))
      .executeUpdate('block', { args: [{ reason: 'evil' }] });
    await eventually(async () => expect((await post(bot, '/v1/approvals', { tool: 'doomed' })).status).toBe(409));
  });
});

test('whoever owns an agent cannot decide about its calls', async () => {
  await escalated('owned');
  const { body } = await post(bot, '/v1/approvals', { tool: 'owned', args: {} });
  const { secret } = await createToken(installation.pool, {
    ...{ name: 'olga-laptop', owner: 'olga', roles: ['approver'], createdBy: 'test' },
  });
  const refused = await post({ ...bot, token: secret }, `/v1/approvals/${String(body['id'])}/approve`, {});
  expect(refused.status).toBe(409);
  expect(refused.body['detail']).toContain('cannot decide');
});

describe('a gate elsewhere', () => {
  test('with a token that nobody knows is refused at once', async () => {
    await expect(connect({ url: bot.url, token: 'surety_nonsense_nonsense' })).rejects.toThrow(/refuses/);
    await expect(connect({ url: bot.url })).rejects.toThrow(/who asks/);
    await expect(connect({ url: 'ftp://x', token: 'x' })).rejects.toThrow(/no address/);
  });

  test('keeps no lease that another agent holds, and reports none as its own', async () => {
    await installation.publish({ toolRules: { leased: { escalationDurationSeconds: 1, cooldownSeconds: 1 } } });
    await fail(gate, 'leased', 3);
    await untilStatus(installation, keyOf('leased'), 'RECOVERING');
    const request = {
      ...{ parts: [{ key: keyOf('leased'), part: '' }], toolKey: keyOf('leased'), trustVersion: 1, leaseSeconds: 60 },
      callId: '01a1e7b8-d01e-712a-afd9-9fead52e4de0',
    };
    const { body } = await post(bot, '/v1/gate/probes', request);
    expect(body['token']).toMatch(/^\d+$/);
    expect((await post(rival, '/v1/gate/probes', request)).body).toEqual({ token: null });
    const lease = `/v1/gate/probes/${String(body['token'])}`;
    expect((await post(rival, `${lease}/renew`, { leaseSeconds: 60 })).status).toBe(404);
    expect((await post(rival, `${lease}/release`, {})).status).toBe(404);
    const stolen = {
      kind: 'success',
      server: 'local',
      name: 'leased',
      callId: 'x',
      at: Date.now(),
      probe: body['token'],
    };
    expect((await post(rival, '/v1/gate/outcomes', { outcomes: [stolen] })).status).toBe(200);
    expect((await post(bot, `${lease}/renew`, { leaseSeconds: 60 })).body).toEqual({ renewed: true });
    expect((await post(bot, `${lease}/release`, {})).status).toBe(200);
  });

  test('ends with another definition what it was granted itself, and nothing of anybody else', async () => {
    await escalated('defined');
    const granted = async (as: typeof bot) => {
      const { body } = await post(as, '/v1/approvals', { tool: 'defined', args: {}, definition: 'one' });
      const grant = { kind: 'always', covers: 'tool' } as const;
      await decideAs(installation.pool, {
        approval: String(body['id']),
        verb: 'approve',
        by: 'alice',
        reason: '',
        grant,
      });
      return String(body['id']);
    };
    const ids = [await granted(bot), await granted(rival)];
    const revokedBy = async () => {
      const found = await installation.pool.query<{ by: string | null }>(
        'select revoked_by as by from approval_grant where id = any($1) order by agent',
        [ids],
      );
      return found.rows.map(({ by }) => by);
    };
    await eventually(async () => expect(await revokedBy()).toEqual([null, null]));
    const define = (as: typeof bot, more: object = {}) =>
      post(as, '/v1/gate/definitions', { key: keyOf('defined'), definition: 'two', ...more });
    expect((await define(rival, { agent: 'bot' })).status).toBe(200);
    expect(await revokedBy()).toEqual([null, 'rival']);
    // Granted as it is, it asks only for a reason of its own.
    const call = { tool: 'defined', args: { n: 1 }, definition: 'one', because: 'unsure' };
    const open = await post(bot, '/v1/approvals', call);
    await define(bot);
    await define(bot);
    expect(await revokedBy()).toEqual(['bot', 'rival']);
    // What was asked about the old one is taken back.
    const path = `/v1/approvals/${String(open.body['id'])}`;
    await eventually(async () => expect((await get(bot, path)).body).toMatchObject({ status: 'withdrawn' }));
  });

  test('sends no arguments and no results, and what it sends is kept without secrets', async () => {
    const outcome = { kind: 'failure', server: 'local', name: 'leaky', callId: 'leak-1', at: Date.now() };
    const told = {
      severity: 'crash',
      category: 'quality',
      evidence: 'text',
      message: 'password=hunter2hunter2 refused',
    };
    const { status } = await post(bot, '/v1/gate/outcomes', { outcomes: [{ ...outcome, ...told }] });
    expect(status).toBe(200);
    const found = await installation.pool.query<{ detail: string; agent: string }>(
      `select l.detail::text as detail, a.text as agent from ledger l join subject s on s.id = l.subject
       join name a on a.id = l.agent where s.name = 'leaky'`,
    );
    expect(found.rows[0]?.agent).toBe('bot');
    expect(found.rows[0]?.detail).not.toContain('hunter2');
    const withArguments = { ...outcome, callId: 'leak-2', args: { password: 'x' } };
    expect((await post(bot, '/v1/gate/outcomes', { outcomes: [withArguments] })).status).toBe(400);
  });

  test('outlives a server that goes away, says so, and loses no report', async () => {
    const { serveHttp } = await import('../../src/http/serve.ts');
    const own = { databaseUrl: installation.databaseUrl, host: '127.0.0.1' };
    await installation.publish({ staleAfterSeconds: 2 });
    const first = await serveHttp({ ...own, port: 0 });
    const away = await connect({ url: first.url, token: bot.token });
    expect(away.situation).toBe('fresh');
    await first.close();
    const reported = away.report({ tool: 'patient', callId: 'patient-1', success: true });
    await eventually(() => expect(away.situation).toBe('stale'));
    expect(away.pressure.waiting).toBe(1);
    const again = await serveHttp({ ...own, port: Number(new URL(first.url).port) });
    await expect(reported).resolves.toBe('patient-1');
    await eventually(() => expect(away.situation).toBe('fresh'));
    await away.close();
    await again.close();
    const found = await installation.pool.query("select 1 from subject where name = 'patient' and outcomes = 1");
    expect(found.rowCount).toBe(1);
  });
});

/** With what its payloads say, which is base64 otherwise. */
function inClear(history: unknown): string {
  return JSON.stringify(history).replace(/"data":"([^"]*)"/g, (_, data: string) =>
    Buffer.from(data, 'base64').toString(),
  );
}
