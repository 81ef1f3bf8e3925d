import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { newOutcomeId, outcomeId } from '../../src/postgres/outcome-id.ts';
import { createToken } from '../../src/postgres/tokens.ts';
import { decideAs } from '../support/decide-as.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { keyOf, untilStatus } from '../workflow/support.ts';
import { escalate, get, post } from './as-agent.ts';
import type { Place } from './as-agent.ts';

let installation: Installation;
let gate: Gate;
let bot: Place;
let bob: Place;

beforeAll(async () => {
  installation = await createInstallation();
  await installation.startWorker();
  gate = await installation.connect();
  bot = await installation.remote('bot');
  const roles = ['approver'] as const;
  bob = {
    url: bot.url,
    token: (await createToken(installation.pool, { name: 'bob', owner: 'bob', roles, createdBy: 't' })).secret,
  };
});
afterAll(() => installation.close());

const check = async (tool: string, more: object = {}) => (await post(bot, '/v1/check', { tool, ...more })).body;

const escalated = (tool: string) => escalate(installation, gate, bot, tool);

const order = (tool: string, what: 'block' | 'reset', more: object = {}) =>
  installation.client.workflow.getHandle(keyOf(tool)).executeUpdate(what, { args: [{ reason: 'test', ...more }] });

/** Asks and has it approved; answers the grant. */
async function granted(call: { tool: string } & Record<string, unknown>, more: object = {}): Promise<string> {
  const { body } = await post(bot, '/v1/approvals', call);
  const id = String(body['id']);
  await decideAs(installation.pool, { approval: id, verb: 'approve', by: 'alice', reason: '', ...more });
  await eventually(async () => {
    const found = await installation.pool.query('select 1 from approval_grant where id = $1', [id]);
    expect(found.rowCount).toBe(1);
  });
  return id;
}

const consume = async (id: string, call: object) => (await post(bot, `/v1/grants/${id}/consume`, call)).status;
const ALWAYS = { kind: 'always', covers: 'tool' } as const;

describe('a grant is handed out only where the gate would say so', () => {
  test('not to a call of a tool that was blocked after it was consumed, however it comes back', async () => {
    await escalated('wipe');
    const call = { tool: 'wipe', args: { disk: 1 }, callId: 'wipe-1' };
    const id = await granted(call);
    expect(await consume(id, { callId: 'wipe-1', args: call.args })).toBe(200);
    expect(await consume(id, { callId: 'wipe-1' })).toBe(200);
    await order('wipe', 'block');
    await untilStatus(installation, keyOf('wipe'), 'BLOCKED');
    // By the row alone: whoever reads the ledger itself gets nothing, either.
    const found = await installation.pool.query<{ why: string }>(
      'select revoke_reason as why from approval_grant where id = $1',
      [id],
    );
    expect(found.rows[0]?.why).toBe('blocked');
    expect(await consume(id, { callId: 'wipe-1' })).toBe(409);
    expect(await consume(id, { callId: 'wipe-1', args: call.args })).toBe(409);
  });

  test('not for what began after it was given', async () => {
    await escalated('pour');
    const id = await granted({ tool: 'pour', args: { l: 1 }, callId: 'pour-1' }, { grant: ALWAYS });
    expect(await consume(id, { callId: 'pour-2', args: { l: 2 } })).toBe(200);
    await order('pour', 'reset');
    await untilStatus(installation, keyOf('pour'), 'TRUSTED');
    await eventually(async () => expect(await check('pour')).toMatchObject({ decision: 'allow' }));
    await escalated('pour');
    expect(await consume(id, { callId: 'pour-3', args: { l: 3 } })).toBe(409);
    expect(await consume(id, { callId: 'pour-1' })).toBe(409);
  });

  test('with a pattern only to arguments that match it, and these have to be said', async () => {
    await escalated('read');
    const grant = { kind: 'always', pattern: { path: '/srv/*' } } as const;
    const id = await granted({ tool: 'read', args: { path: '/srv/a' } }, { grant });
    expect(await consume(id, { callId: 'r1', digest: 'f'.repeat(64) })).toBe(409);
    expect(await consume(id, { callId: 'r2', args: { path: '/etc/passwd' } })).toBe(409);
    expect(await consume(id, { callId: 'r3', args: { path: '/etc/passwd' }, digest: 'f'.repeat(64) })).toBe(409);
    expect(await consume(id, { callId: 'r4', args: { path: '/srv/b' } })).toBe(200);
    expect(await consume(id, { callId: 'r5' })).toBe(200);
  });

  test('for what a person has put in only by saying it: its digest does not tell what it concerns', async () => {
    await escalated('mail');
    const edit = { url: 'https://b.test/' };
    const id = await granted({ tool: 'mail', args: { url: 'https://a.test/' } }, { grant: { kind: 'always' }, edit });
    const { edited } = (await get(bot, `/v1/approvals/${id}`)).body as { edited: { digest: string } };
    const unsaid = await post(bot, `/v1/grants/${id}/consume`, { callId: 'm1', digest: edited.digest });
    expect(unsaid).toMatchObject({ status: 409, body: { detail: expect.stringContaining('with its args') as string } });
    expect(await consume(id, { callId: 'm2', digest: edited.digest, args: edit })).toBe(200);
  });

  test('for a session only to a call that names it', async () => {
    await escalated('sit');
    const grant = { kind: 'session' } as const;
    const id = await granted({ tool: 'sit', args: { n: 1 }, session: 'A' }, { grant });
    expect(await consume(id, { callId: 's1' })).toBe(409);
    expect(await consume(id, { callId: 's2', session: 'B' })).toBe(409);
    expect(await consume(id, { callId: 's3', session: 'A' })).toBe(200);
    expect(await consume(id, { callId: 's4', session: 'A', args: { n: 2 } })).toBe(409);
  });

  test('for a definition only to calls with it; what was given without one ends with the first', async () => {
    await escalated('shape');
    const without = await granted({ tool: 'shape', args: { n: 1 } }, { grant: ALWAYS });
    expect(await consume(without, { callId: 'd1', args: { n: 2 } })).toBe(200);
    expect(await consume(without, { callId: 'd2', args: { n: 2 }, definition: 'v2' })).toBe(409);
    await post(bot, '/v1/gate/definitions', { key: keyOf('shape'), definition: 'v2' });
    expect(await consume(without, { callId: 'd3', args: { n: 2 } })).toBe(409);
    const v2 = await granted({ tool: 'shape', args: { n: 1 }, definition: 'v2' }, { grant: ALWAYS });
    expect(await consume(v2, { callId: 'd4', args: { n: 2 } })).toBe(409);
    expect(await consume(v2, { callId: 'd5', args: { n: 2 }, definition: 'v2' })).toBe(200);
  });

  test('for a scope not to arguments that say another, whatever scope is claimed', async () => {
    await escalated('web');
    const [good, evil] = [{ url: 'https://good.test/a' }, { url: 'https://evil.test/b' }];
    const claimed = { scope: 'host:good.test' };
    const grant = { kind: 'always', covers: 'scope' } as const;
    const id = await granted({ tool: 'web', args: good, scope: 'host:elsewhere.test' }, { grant });
    expect(await consume(id, { callId: 'w1', args: { url: 'https://good.test/c' } })).toBe(200);
    expect(await consume(id, { callId: 'w2', args: { n: 1 }, ...claimed })).toBe(200);
    expect(await consume(id, { callId: 'w3', args: evil, ...claimed })).toBe(409);
    expect(await check('web', { args: evil, ...claimed })).toMatchObject({ decision: 'ask', via: 'person' });
    await order('web', 'block', { scope: 'host:evil.test' });
    await eventually(async () => expect(await check('web', { args: evil })).toMatchObject({ decision: 'deny' }));
    expect(await check('web', { args: evil, ...claimed })).toMatchObject({ decision: 'deny' });
    expect(await consume(id, { callId: 'w4', args: evil, ...claimed })).toBe(409);
    // Without arguments it is the call that was asked about, and what else is claimed is judged besides.
    expect(await consume(id, { callId: 'w5', scope: 'host:evil.test' })).toBe(409);
    expect(await consume(id, { callId: 'w5' })).toBe(200);
  });
});

test('a grant says when it was used where that is known, and never how often', async () => {
  await escalated('tally');
  const once = await granted({ tool: 'tally', args: { n: 1 }, callId: 't1' });
  const wide = await granted({ tool: 'tally', args: { n: 2 } }, { grant: ALWAYS });
  expect(await consume(once, { callId: 't1' })).toBe(200);
  expect(await consume(wide, { callId: 't2' })).toBe(200);
  const { grants } = (await get(bob, '/v1/grants?all=true')).body as { grants: { id: string }[] };
  const shown = (id: string) => grants.find((grant) => grant.id === id);
  expect(shown(once)).toMatchObject({ consumedAt: expect.stringMatching(/^2/) as string });
  expect(shown(wide)).toMatchObject({ consumedAt: null });
  for (const id of [once, wide]) expect(shown(id)).not.toHaveProperty('uses');
});

describe('a definition is part of a call', () => {
  const ask = (tool: string, more: object) => post(bot, '/v1/approvals', { tool, args: { n: 2 }, ...more });
  const revokedFor = async (id: string) => {
    const found = await installation.pool.query<{ why: string | null }>(
      'select revoke_reason as why from approval_grant where id = $1',
      [id],
    );
    return found.rows[0]?.why;
  };

  test('what was granted without one answers no call with one: not a check, not a question', async () => {
    await escalated('plainly');
    await granted({ tool: 'plainly', args: { n: 1 } }, { grant: ALWAYS });
    await eventually(async () => expect(await check('plainly')).toMatchObject({ decision: 'allow' }));
    expect(await check('plainly', { definition: 'evil' })).toMatchObject({ decision: 'ask' });
    expect(await ask('plainly', {})).toMatchObject({ status: 409, body: { title: 'Nothing to ask' } });
    expect(await ask('plainly', { definition: 'evil' })).toMatchObject({ status: 200, body: { status: 'pending' } });
  });

  test('what was granted to it answers its calls, until another is asked about', async () => {
    await escalated('renamed');
    const id = await granted({ tool: 'renamed', args: { n: 1 }, definition: 'd1' }, { grant: ALWAYS });
    await eventually(async () =>
      expect(await check('renamed', { definition: 'd1' })).toMatchObject({ decision: 'allow', grant: id }),
    );
    expect(await ask('renamed', { definition: 'd1' })).toMatchObject({ status: 409 });
    expect(await check('renamed')).toMatchObject({ decision: 'ask' });
    expect(await check('renamed', { definition: 'd2' })).toMatchObject({ decision: 'ask' });
    expect(await revokedFor(id)).toBeNull();
    expect(await ask('renamed', { definition: 'd2' })).toMatchObject({ status: 200 });
    expect(await revokedFor(id)).toBe('its definition is another');
    await eventually(async () =>
      expect(await check('renamed', { definition: 'd1' })).toMatchObject({ decision: 'ask' }),
    );
  });
});

describe('an id that two agents give to calls of theirs', () => {
  const reportAs = (who: Place, tool: string, callId: string, more: object) =>
    post(who, '/v1/outcomes', { outcomes: [{ tool, callId, ...more }] });
  const rowsOf = async (tool: string) => {
    const found = await installation.pool.query<{ agent: string; kind: number }>(
      `select n.text as agent, l.kind from ledger l join subject s on s.id = l.subject join name n on n.id = l.agent
       where s.name = $1 order by l.seq`,
      [tool],
    );
    return found.rows;
  };
  /** A call of bot that was let run, and died before it did. */
  const died = async (tool: string, callId: string) => {
    await escalated(tool);
    const call = { tool, args: { n: 1 }, callId };
    const id = await granted(call);
    expect(await consume(id, { callId })).toBe(200);
    return { id, call };
  };
  let rival: Place;
  beforeAll(async () => {
    rival = await installation.remote('rival');
  });

  test('is two calls: what one reports uses up no grant of the other, and hides no failure', async () => {
    const { id, call } = await died('pay', 'call-1');
    expect((await reportAs(rival, 'pay', 'call-1', { success: true })).status).toBe(200);
    expect((await post(bot, '/v1/approvals', call)).body).toMatchObject({ id, status: 'approved' });
    expect(await consume(id, { callId: 'call-1' })).toBe(200);
    for (let times = 0; times < 2; times += 1) {
      expect((await reportAs(bot, 'pay', 'call-1', { success: false, error: 'declined' })).status).toBe(200);
    }
    expect(await rowsOf('pay')).toEqual([
      { agent: 'rival', kind: 0 },
      { agent: 'bot', kind: 1 },
    ]);
    expect(await consume(id, { callId: 'call-1' })).toBe(409);
  });

  test('is no other’s by being spelt as the ledger has it', async () => {
    const { id } = await died('refund', 'call-1');
    const asKept = outcomeId('call-1', 'local', 'refund', 'bot');
    await reportAs(rival, 'refund', asKept, { success: true });
    expect(await consume(id, { callId: 'call-1' })).toBe(200);
    await reportAs(bot, 'refund', 'call-1', { success: false, error: 'declined' });
    expect(await rowsOf('refund')).toContainEqual({ agent: 'bot', kind: 1 });
  });

  test('says nothing of a grant but by whom it was given to, also where it is taken as it is', async () => {
    const callId = newOutcomeId();
    const { id, call } = await died('ship', callId);
    await reportAs(rival, 'ship', callId, { success: true });
    expect((await post(bot, '/v1/approvals', call)).body).toMatchObject({ id, status: 'approved' });
    expect(await consume(id, { callId })).toBe(200);
    // It is still what a block takes back.
    await order('ship', 'block');
    await untilStatus(installation, keyOf('ship'), 'BLOCKED');
    expect(await consume(id, { callId })).toBe(409);
  });
});

test.each(['12345678901234567890', '1e400'])('what would be shown as another number is refused: %s', async (number) => {
  const answer = await post(bot, '/v1/approvals', `{"tool":"count","because":"b","args":{"n":${number}}}`);
  expect(answer).toMatchObject({ status: 400 });
  expect(answer.body['detail']).toBe(`${number} cannot be kept exactly as a number: send it as a string.`);
  const asText = await post(bot, '/v1/approvals', `{"tool":"count","because":"b","args":{"n":"${number}"}}`);
  expect(asText).toMatchObject({ status: 200, body: { arguments: { n: number } } });
});

describe('a person', () => {
  const open = async (args: object, more: object = {}) =>
    `/v1/approvals/${String((await post(bot, '/v1/approvals', { tool: 'odd', because: 'b', args, ...more })).body['id'])}`;

  test('grants no session to a call that has none', async () => {
    const refused = await post(bob, `${await open({ n: 1 })}/approve`, { grant: 'session' });
    expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining('no session') as string } });
    expect((await post(bob, `${await open({ n: 2 }, { session: 's' })}/approve`, { grant: 'session' })).status).toBe(
      200,
    );
  });

  test('takes a question back in the own name alone', async () => {
    const path = await open({ n: 3 });
    expect((await post(bob, `${path}/withdraw`, { automatic: true })).status).toBe(403);
    expect((await post(bot, `${path}/withdraw`, { automatic: true })).status).toBe(200);
  });

  test('who puts nothing in place of the arguments leaves the field out', async () => {
    const path = await open({ n: 5 });
    const refused = await post(bob, `${path}/approve`, { edit: null });
    expect(refused).toMatchObject({
      status: 400,
      body: { detail: 'null is no arguments to run instead. Leave it out to approve what was asked.' },
    });
    expect((await post(bob, `${path}/approve`, {})).status).toBe(200);
  });

  test('who edits arguments keeps them an object', async () => {
    const path = await open({ n: 6 });
    expect(await post(bob, `${path}/approve`, { edit: [6] })).toMatchObject({
      status: 400,
      body: {
        detail: expect.stringContaining('The arguments are an object, and a list was to run instead.') as string,
      },
    });
    expect((await post(bob, `${path}/approve`, { edit: { n: 7 } })).status).toBe(200);
  });

  test('who is too late is told who was first', async () => {
    const path = await open({ n: 4 });
    expect((await post(bob, `${path}/deny`, {})).status).toBe(200);
    // The workflow is over by now, and the ledger says so.
    const late = await post(bob, `${path}/approve`, {});
    expect(late).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/^it is denied by bob since 2/) as string },
    });
  });
});

describe('a token', () => {
  const make = (name: string, owner: string) =>
    createToken(installation.pool, { name, owner, roles: ['approver'], createdBy: 't' });

  test.each([
    ['', 'ann'],
    ['ann', '  '],
    ['surety', 'ann'],
    ['ann', 'Surety'],
    ['surety for ann', 'ann'],
  ])('of %j, owned by %j, is not made', async (name, owner) => {
    await expect(make(name, owner)).rejects.toThrow(/A name has|signs with itself/);
  });

  test('has one owner by its name, and is kept without what cannot be seen', async () => {
    const [{ id }] = await Promise.all([make(' carl ', 'carl ')]);
    const found = await installation.pool.query('select name, owner from token where id = $1', [id]);
    expect(found.rows).toEqual([{ name: 'carl', owner: 'carl' }]);
    await expect(make('Carl', 'dora')).rejects.toThrow('There is a token "carl" already, and it belongs to carl.');
    await expect(make('carl', 'CARL')).resolves.toBeDefined();
    await installation.pool.query("update token set revoked_at = clock_timestamp() where name = 'carl'");
    await expect(make('carl', 'dora')).resolves.toBeDefined();
  });

  test('of one who is asked for at once by two owners is made for one', async () => {
    const made = await Promise.allSettled(['x', 'y', 'z'].map((owner) => make('twin', owner)));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});
