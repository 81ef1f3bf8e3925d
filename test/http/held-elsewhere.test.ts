import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { connect } from '../../src/gate/index.ts';
import { untilTold } from '../../src/postgres/approval-decide.ts';
import { newOutcomeId } from '../../src/postgres/outcome-id.ts';
import { createToken, revokeToken } from '../../src/postgres/tokens.ts';
import type { Role } from '../../src/postgres/tokens.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { fail } from '../workflow/support.ts';
import { escalate, send } from './as-agent.ts';
import type { Place } from './as-agent.ts';

let installation: Installation;
let gate: Gate;
let bot: Place;
let alice: Place;

beforeAll(async () => {
  installation = await createInstallation();
  await installation.startWorker();
  gate = await installation.connect();
  bot = await installation.remote('bot');
  alice = await as('alice', ['approver']);
});
afterAll(() => installation.close());

async function as(name: string, roles: readonly Role[], owner = name): Promise<Place> {
  const { secret } = await createToken(installation.pool, { name, owner, roles, createdBy: 't' });
  return { url: bot.url, token: secret };
}

const ask = (who: Place, call: object) => send(who, 'POST', '/v1/approvals', call);
const decide = (who: Place, id: unknown, verb: string, body: object = {}) =>
  send(who, 'POST', `/v1/approvals/${String(id)}/${verb}`, body);

const escalated = (tool: string) => escalate(installation, gate, bot, tool);

async function questionsOf(tool: string): Promise<readonly { id: string; status: string }[]> {
  const text = 'select id, status from approval where tool = $1 order by id';
  return (await installation.pool.query<{ id: string; status: string }>(text, [tool])).rows;
}

/** So many objects, one in the other, as JSON. */
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('arguments that nobody can read', () => {
  test('are refused when they are asked about, and the inbox stays as it was', async () => {
    await escalated('deep');
    for (const levels of [300, 3500]) {
      const answer = await send(bot, 'POST', '/v1/approvals', `{"tool":"deep","args":${nested(levels)}}`);
      expect(answer).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining('nested deeper') as string },
      });
    }
    expect(await questionsOf('deep')).toEqual([]);
    expect((await send(alice, 'GET', '/v1/approvals')).status).toBe(200);
  });

  test('are no edit, either', async () => {
    await escalated('deep-edit');
    const { body } = await ask(bot, { tool: 'deep-edit', args: { n: 1 } });
    const edited = await send(alice, 'POST', `/v1/approvals/${String(body['id'])}/approve`, `{"edit":${nested(3000)}}`);
    expect(edited.status).toBe(400);
    expect((await decide(alice, body['id'], 'deny')).status).toBe(200);
  });

  test('may be long: they are left out of lists, and are there with the question', async () => {
    await escalated('long');
    const args = { text: 'x'.repeat(50_000) };
    const { body } = await ask(bot, { tool: 'long', args });
    const { approvals } = (await send(alice, 'GET', '/v1/approvals?search=long')).body as {
      approvals: { id: string; arguments: unknown; isLeftOut?: boolean }[];
    };
    expect(approvals.find(({ id }) => id === body['id'])).toMatchObject({ arguments: null, isLeftOut: true });
    expect((await send(alice, 'GET', `/v1/approvals/${String(body['id'])}`)).body['arguments']).toEqual(args);
  });
});

describe('a call that has run', () => {
  test('asks one question when it comes again, and a denial holds for it as for any other', async () => {
    await escalated('again');
    const call = { tool: 'again', args: { n: 1 }, callId: 'again-1' };
    const first = await ask(bot, call);
    await decide(alice, first.body['id'], 'approve');
    const { tool: _, ...use } = call;
    expect((await send(bot, 'POST', `/v1/grants/${String(first.body['id'])}/consume`, use)).status).toBe(200);
    // A crashed agent finds what it was granted; once it has run that is over.
    expect((await ask(bot, call)).body['id']).toBe(first.body['id']);
    await send(bot, 'POST', '/v1/outcomes', { outcomes: [{ tool: 'again', callId: 'again-1', success: true }] });
    const second = await ask(bot, call);
    expect(second.body['id']).not.toBe(first.body['id']);
    for (const asked of [2, 3]) expect((await ask(bot, call)).body).toMatchObject({ id: second.body['id'], asked });
    await decide(alice, second.body['id'], 'deny');
    expect((await ask(bot, call)).body).toMatchObject({ id: second.body['id'], status: 'denied' });
    expect(await questionsOf('again')).toHaveLength(2);
  });
});

describe('whoever owns the agent', () => {
  /** The token of an agent that belongs to somebody else from now on. */
  async function reissue(name: string, owner: string): Promise<Place> {
    const text = 'select id from token where name = $1 and revoked_at is null';
    const tokens = await installation.pool.query<{ id: string }>(text, [name]);
    for (const { id } of tokens.rows) await revokeToken(installation.pool, id, 't');
    return as(name, ['agent'], owner);
  }

  const cannotDecide = { status: 409, body: { detail: expect.stringContaining('cannot decide') as string } };
  const ALWAYS = { grant: { kind: 'always', covers: 'tool' } };

  test('cannot decide about a question that somebody else’s token had asked first', async () => {
    await escalated('inherited');
    const call = { tool: 'inherited', args: { n: 1 } };
    const asked = await ask(await as('errand', ['agent'], 'ann'), call);
    const errand = await reissue('errand', 'bob');
    const bob = await as('bob', ['approver']);
    expect((await decide(bob, asked.body['id'], 'approve', ALWAYS)).status).toBe(409);
    expect((await send(errand, 'POST', '/v1/check', call)).body['decision']).toBe('ask');
    const anew = await ask(errand, call);
    expect(anew.body['id']).not.toBe(asked.body['id']);
    expect(await decide(bob, anew.body['id'], 'approve')).toMatchObject(cannotDecide);
    expect((await decide(alice, anew.body['id'], 'approve')).status).toBe(200);
  });

  test('cannot decide about what somebody else asks in the name of the agent, also while it has no token', async () => {
    await escalated('on-behalf');
    const call = { tool: 'on-behalf', args: { n: 1 } };
    const emissary = await as('emissary', ['agent'], 'ben');
    const { body } = await ask(await as('adam', ['admin']), { ...call, agent: 'emissary' });
    const ben = await as('ben-laptop', ['approver'], 'Ben');
    expect(await decide(ben, body['id'], 'approve', ALWAYS)).toMatchObject(cannotDecide);
    expect((await send(emissary, 'POST', '/v1/check', call)).body['decision']).toBe('ask');
    await installation.pool.query("update token set expires_at = clock_timestamp() where name = 'emissary'");
    expect(await decide(ben, body['id'], 'approve', ALWAYS)).toMatchObject(cannotDecide);
    expect((await decide(alice, body['id'], 'approve')).status).toBe(200);
  });

  test('takes back what was asked for the one before, and sees nothing of it; what is asked from then on stays', async () => {
    await escalated('left-open');
    const call = (n: number) => ({ tool: 'left-open', args: { n } });
    const path = (answer: { body: Record<string, unknown> }) => `/v1/approvals/${String(answer.body['id'])}`;
    const asked = await ask(await as('herald', ['agent'], 'ann'), call(1));
    // Somebody let it run, and no worker has heard of it yet.
    const unheard = await installation.pool.query<{ id: string }>(
      `insert into approval_decision (id, approval, verb, by, token, reason, signalled_at)
       select $1, $2, 'approve', name, id, '', clock_timestamp() from token where name = 'alice' returning id`,
      [newOutcomeId(), asked.body['id']],
    );
    const heralds = await reissue('herald', 'cleo');
    const told = await untilTold(installation.pool, unheard.rows[0]?.id ?? '', 1000);
    expect(told).toEqual({ outcome: 'refused', because: 'the agent belongs to cleo now' });
    await eventually(async () => {
      const { body } = await send(alice, 'GET', path(asked));
      const endReason = 'the agent belongs to cleo now';
      expect(body).toMatchObject({ status: 'withdrawn', endedBy: 'surety', endReason });
    });
    expect((await send(heralds, 'GET', path(asked))).status).toBe(404);
    const own = await ask(heralds, call(2));
    expect((await send(heralds, 'GET', path(own))).status).toBe(200);
    const second = await as('herald', ['agent'], 'cleo');
    expect((await send(second, 'GET', path(own))).body).toMatchObject({ status: 'pending' });
    expect((await decide(second, own.body['id'], 'withdraw')).status).toBe(200);
  });

  test('takes over nothing that was granted to the one before', async () => {
    await escalated('handed-over');
    const call = { tool: 'handed-over', args: { n: 1 } };
    const anns = await as('runner', ['agent'], 'ann');
    const { body } = await ask(anns, call);
    const bea = await as('bea-laptop', ['approver'], 'bea');
    await decide(bea, body['id'], 'approve', { grant: { kind: 'always', covers: 'tool' } });
    await eventually(async () => expect((await send(anns, 'POST', '/v1/check', call)).body['decision']).toBe('allow'));
    const beas = await reissue('runner', 'bea');
    await eventually(async () => expect((await send(beas, 'POST', '/v1/check', call)).body['decision']).toBe('ask'));
    expect((await ask(beas, call)).body).toMatchObject({ status: 'pending' });
  });

  test('does not take back what another asks for the same agent', async () => {
    await escalated('shared');
    const admins = [await as('adele', ['admin']), await as('aron', ['admin'])];
    for (let round = 0; round < 5; round += 1) {
      for (const admin of admins) await ask(admin, { tool: 'shared', args: { n: 1 }, agent: 'bot' });
    }
    expect(await questionsOf('shared')).toMatchObject([{ status: 'pending' }, { status: 'pending' }]);
  });
});

describe('taking a question back', () => {
  test('is refused to whoever has seen an older version', async () => {
    await escalated('versioned');
    const { body } = await ask(bot, { tool: 'versioned', args: {} });
    await decide(alice, body['id'], 'extend', { seconds: 60 });
    expect((await decide(alice, body['id'], 'withdraw', { expectedVersion: 1 })).status).toBe(409);
    expect((await decide(alice, body['id'], 'withdraw', { expectedVersion: 3_000_000_000 })).status).toBe(400);
    expect((await decide(alice, body['id'], 'withdraw', { expectedVersion: 2 })).status).toBe(200);
  });
});

test('what was decided last comes first', async () => {
  await escalated('ordered');
  const [early, late] = [await ask(bot, { tool: 'ordered', args: 1 }), await ask(bot, { tool: 'ordered', args: 2 })];
  await decide(alice, late.body['id'], 'deny');
  await decide(alice, early.body['id'], 'deny');
  const seen: unknown[] = [];
  for (let cursor = ''; ;) {
    const { body } = await send(alice, 'GET', `/v1/approvals?status=decided&limit=1${cursor}`);
    const page = body as { approvals: { id: string }[]; cursor: string | null };
    seen.push(page.approvals[0]?.id);
    if (page.cursor === null || seen.length === 2) break;
    cursor = `&cursor=${page.cursor}`;
  }
  expect(seen).toEqual([early.body['id'], late.body['id']]);
});

/** A gate that speaks HTTP, closed with the test. */
async function remoteGate(place: Place, more: object = {}): Promise<Gate> {
  const made = await connect({ ...place, ...more });
  onTestFinished(() => made.close());
  return made;
}

async function approveNext(tool: string, grant: unknown = 'once'): Promise<void> {
  const [open] = await eventually(async () => {
    const pending = (await questionsOf(tool)).filter(({ status }) => status === 'pending');
    expect(pending).toHaveLength(1);
    return pending;
  });
  expect((await decide(alice, open?.id, 'approve', { grant })).status).toBe(200);
}

describe('a gate elsewhere that waits for a person', () => {
  test('runs for an admin, too, in whose name it was asked', async () => {
    await escalated('by-admin');
    const admin = await remoteGate(await as('root', ['admin']));
    const running = admin.guard('by-admin', () => 'ran')({});
    await approveNext('by-admin');
    await expect(running).resolves.toBe('ran');
  });

  test('is told at once what no waiting would change', async () => {
    await escalated('hopeless');
    const large = (await remoteGate(bot)).guard('hopeless', () => 'ran')({ text: 'x'.repeat(2_200_000) });
    await expect(large).rejects.toMatchObject({ name: 'Refused', status: 413 });
    const operator = (await remoteGate(await as('otto', ['operator']))).guard('hopeless', () => 'ran')({});
    await expect(operator).rejects.toMatchObject({ name: 'Refused', status: 403 });
    const map = (await remoteGate(bot)).guard('hopeless', () => 'ran')({ text: new Map() });
    await expect(map).rejects.toMatchObject({ name: 'NotShowable' });
    const leaving = await as('leaving', ['agent']);
    const waiting = (await remoteGate(leaving)).guard('hopeless', () => 'ran')({});
    await eventually(async () => expect(await questionsOf('hopeless')).toHaveLength(1));
    const tokens = await installation.pool.query<{ id: string }>("select id from token where name = 'leaving'");
    await revokeToken(installation.pool, tokens.rows[0]?.id ?? '', 't');
    await expect(waiting).rejects.toMatchObject({ name: 'Refused', status: 401 });
  });

  test('gets what was granted although the server could not hand it out at first', async () => {
    await escalated('shaky');
    const shaky = await unsteady(bot.url);
    const running = (await remoteGate({ ...bot, url: shaky.url })).guard('shaky', () => 'ran')({});
    await approveNext('shaky');
    await expect(running).resolves.toBe('ran');
    expect(shaky.refused()).toBe(2);
  });

  test('is its token’s agent, whatever a call says', async () => {
    await escalated('named');
    const guarded = (await remoteGate(bot)).guard('named', () => 'ran');
    const running = guarded({ n: 1 }, { agent: 'sub' });
    await approveNext('named', { kind: 'always', covers: 'tool' });
    await expect(running).resolves.toBe('ran');
    await expect(guarded({ n: 2 }, { agent: 'sub' })).resolves.toBe('ran');
    expect(await questionsOf('named')).toHaveLength(1);
  });
});

test('a clock that is ahead asks once, also while nobody judges', async () => {
  const quiet = await createInstallation();
  onTestFinished(() => quiet.close());
  const real = Date.now.bind(Date);
  const ahead = vi.spyOn(Date, 'now').mockImplementation(() => real() + 30_000);
  onTestFinished(() => ahead.mockRestore());
  const own = await quiet.connect({ agent: 'bot', approvalWaitMs: 3000 });
  await fail(own, 'early', 3);
  await expect(own.guard('early', () => 'ran')({})).rejects.toMatchObject({ name: 'ApprovalRequired' });
  const asked = await quiet.pool.query('select 1 from approval');
  expect(asked.rowCount).toBe(1);
});

/** Passes everything on, and answers the first two who would run under a grant that it cannot do so now. */
async function unsteady(url: string): Promise<{ url: string; refused: () => number }> {
  let refused = 0;
  const server = createServer((request, response) => {
    void (async () => {
      if (request.url?.endsWith('/consume') === true && refused < 2) {
        refused += 1;
        response.writeHead(503, { 'content-type': 'application/problem+json' }).end('{"detail":"not now"}');
        return;
      }
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const headers = { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' };
      const answer = await fetch(`${url}${request.url ?? ''}`, {
        ...{ method: request.method ?? 'GET', headers },
        ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
      });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      for await (const chunk of answer.body ?? []) response.write(chunk);
      response.end();
    })().catch(() => response.destroy());
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, refused: () => refused };
}
