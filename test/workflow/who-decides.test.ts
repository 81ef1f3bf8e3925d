import { afterAll, beforeAll, expect, test } from 'vitest';
import { decide, untilTold } from '../../src/postgres/approval-decide.ts';
import type { NewDecision } from '../../src/postgres/approval-decide.ts';
import { newOutcomeId } from '../../src/postgres/outcome-id.ts';
import { readOne } from '../../src/postgres/read-approvals.ts';
import { createToken } from '../../src/postgres/tokens.ts';
import type { Role } from '../../src/postgres/tokens.ts';
import type { Gate } from '../../src/gate/index.ts';
import { decideAs } from '../support/decide-as.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { fail, failedTasks, keyOf, openQuestion, temporal, untilStatus } from './support.ts';

let installation: Installation;
let gate: Gate;

beforeAll(async () => {
  installation = await createInstallation({
    toolRules: {
      listed: { approval: { approvers: [['ann']] } },
      'grave-*': { approval: { twoForSecurity: true } },
      lax: { approval: { unverified: true } },
    },
  });
  await installation.startWorker();
  gate = await installation.connect({ agent: 'builder', session: 's1' });
});
afterAll(() => installation.close());

interface Held {
  readonly id: string;
  readonly workflow: string;
  readonly waiting: Promise<unknown>;
}

/** A call that waits for a person. */
async function held(tool: string, { isSecurity = false } = {}): Promise<Held> {
  await fail(gate, tool, 3);
  await untilStatus(installation, keyOf(tool), 'ESCALATED');
  if (isSecurity) {
    // Asked as it would be about a tool that is held for security's sake.
    await installation.pool.query(`create or replace function grave() returns trigger language plpgsql as
      $$ begin new.is_security := new.tool like 'grave-%'; return new; end $$`);
    await installation.pool.query('drop trigger if exists grave on approval');
    await installation.pool.query(
      'create trigger grave before insert on approval for each row execute function grave()',
    );
  }
  const waiting = gate.guard(tool, () => 'ran')({});
  waiting.catch(() => undefined);
  const { id } = await openQuestion(installation, tool);
  const workflow = await eventually(async () => {
    const found = await installation.pool.query<{ id: string }>(
      "select 'approval:' || identity || '/' || ordinal as id from approval where id = $1 and started_at is not null",
      [id],
    );
    if (found.rows[0] === undefined) throw new Error('not started yet');
    return found.rows[0].id;
  });
  return { id, workflow, waiting };
}

const told = async (decision: string) => untilTold(installation.pool, decision, 20_000);

const say = async (id: string, by: string, more: Partial<NewDecision> = {}) =>
  told(await decide(installation.pool, { approval: id, verb: 'approve', by, reason: '', ...more }));

const sayAs = async (id: string, by: string, more: Partial<NewDecision> = {}) =>
  told(await decideAs(installation.pool, { approval: id, verb: 'approve', by, reason: '', ...more }));

const signal = (workflow: string, name: string, payload: unknown) =>
  installation.client.workflow.getHandle(workflow).signal(name, payload);

/** What was said to a bare signal of that sender. */
const refusalTo = (actor: string) =>
  eventually(async () => {
    const found = await installation.pool.query<{ reason: string }>(
      "select reason from audit where action = 'decision refused' and actor = $1 order by id desc limit 1",
      [actor],
    );
    if (found.rows[0] === undefined) throw new Error('not refused yet');
    return found.rows[0].reason;
  });

const tokenOf = (name: string, roles: readonly Role[], owner = name) =>
  createToken(installation.pool, { name, owner, roles, createdBy: 'test' });

const UNKNOWN = 'nobody knows who sent this';

test('without any token whoever has access decides, and is recorded as unverified', async () => {
  const signalled = await held('signalled');
  await temporal(
    installation,
    ...['workflow', 'signal', '--workflow-id', signalled.workflow, '--name', 'approve'],
    ...['--input', '{"by":"dora","reason":"from the terminal"}'],
  );
  expect(await signalled.waiting).toBe('ran');
  expect(await readOne(installation.pool, signalled.id)).toMatchObject({
    endedBy: 'dora',
    verified: false,
    endReason: 'from the terminal',
  });
  const written = await held('written');
  expect(await say(written.id, 'dora')).toEqual({ outcome: 'taken' });
  expect(await readOne(installation.pool, written.id)).toMatchObject({ endedBy: 'dora', verified: false });
});

test('a name that nothing proves is none of those asked, and none of two', async () => {
  const listed = await held('listed');
  expect(await say(listed.id, 'ann')).toMatchObject({
    outcome: 'refused',
    because: expect.stringContaining(UNKNOWN) as string,
  });
  const grave = await held('grave-alone', { isSecurity: true });
  for (const by of ['ann', 'bob']) {
    expect(await say(grave.id, by)).toMatchObject({
      outcome: 'refused',
      because: expect.stringContaining(UNKNOWN) as string,
    });
    await signal(grave.workflow, 'approve', { by });
    expect(await refusalTo(by)).toContain(UNKNOWN);
  }
  expect(await readOne(installation.pool, grave.id)).toMatchObject({ status: 'pending', consents: [] });
  // From here on there are tokens.
  expect(await sayAs(listed.id, 'ann')).toEqual({ outcome: 'taken' });
  expect(await readOne(installation.pool, listed.id)).toMatchObject({ endedBy: 'ann', verified: true });
});

test('once there is a token, nothing is decided without one, unless the rule allows it', async () => {
  const guarded = await held('guarded');
  await signal(guarded.workflow, 'approve', { by: 'mallory' });
  expect(await refusalTo('mallory')).toContain(UNKNOWN);
  expect(await say(guarded.id, 'ann')).toMatchObject({
    outcome: 'refused',
    because: expect.stringContaining(UNKNOWN) as string,
  });
  // Also where all have been revoked: otherwise revoking would open what making one has closed.
  await installation.pool.query('update token set revoked_at = clock_timestamp()');
  expect(await say(guarded.id, 'ann')).toMatchObject({ outcome: 'refused' });
  await installation.pool.query('update token set revoked_at = null');
  const lax = await held('lax');
  expect(await say(lax.id, 'ann')).toEqual({ outcome: 'taken' });
  expect(await readOne(installation.pool, lax.id)).toMatchObject({ endedBy: 'ann', verified: false });
});

test('a bare signal takes nothing back in the name of whoever asked; the process that asked does', async () => {
  const asked = await held('taken-back');
  await signal(asked.workflow, 'withdraw', { by: 'builder' });
  expect(await refusalTo('builder')).toContain(UNKNOWN);
  expect(await readOne(installation.pool, asked.id)).toMatchObject({ status: 'pending' });
  expect(await say(asked.id, 'builder', { verb: 'withdraw' })).toEqual({ outcome: 'taken' });
});

test("an agent's token never decides, whatever other roles it has and however the decision arrives", async () => {
  const asked = await held('agentic');
  const { id: token } = await tokenOf('robot', ['agent', 'approver', 'operator', 'admin']);
  for (const verb of ['approve', 'deny', 'extend', 'withdraw'] as const) {
    const because = "an agent's token never decides";
    expect(await say(asked.id, 'robot', { verb, token, extendSeconds: 60 })).toEqual({ outcome: 'refused', because });
  }
  expect(await readOne(installation.pool, asked.id)).toMatchObject({ status: 'pending', version: 1 });
});

test.each(['revoked_at', 'expires_at'])('what is decided with a token counts by its %s, then', async (ended) => {
  const asked = await held(`ended-by-${ended}`);
  const { id: token } = await tokenOf(`once-${ended}`, ['approver']);
  const end = (moment: string) =>
    installation.pool.query(`update token set ${ended} = ${moment} where id = $1`, [token]);
  await end("clock_timestamp() - interval '1 second'");
  expect(await say(asked.id, 'somebody', { token })).toMatchObject({
    outcome: 'refused',
    because: expect.stringContaining(UNKNOWN) as string,
  });
  expect(await readOne(installation.pool, asked.id)).toMatchObject({ status: 'pending' });
  // Made in time and heard of later: it was theirs to make.
  const decision = newOutcomeId();
  await installation.pool.query(
    `insert into approval_decision (id, approval, verb, by, token, reason, at)
     values ($1, $2, 'approve', 'somebody', $3, '', clock_timestamp() - interval '2 seconds')`,
    [decision, asked.id, token],
  );
  await installation.pool.query("select pg_notify('surety_bell', '')");
  expect(await told(decision)).toEqual({ outcome: 'taken' });
  expect(await asked.waiting).toBe('ran');
});

test('two people are two owners, and the second is held to what the first agreed to after the workflow was lost', async () => {
  const asked = await held('grave-lost', { isSecurity: true });
  expect(await sayAs(asked.id, 'ann', { grant: { kind: 'session' } })).toEqual({ outcome: 'taken' });
  await installation.client.workflow.getHandle(asked.workflow).terminate('by hand');
  const { id: second } = await tokenOf('ann-laptop', ['approver'], 'ann');
  const again = await say(asked.id, 'ann-laptop', { token: second, grant: { kind: 'session' } });
  expect(again).toMatchObject({ outcome: 'refused', because: expect.stringContaining('somebody else must') as string });
  const other = await sayAs(asked.id, 'bob', { grant: { kind: 'always', covers: 'tool' } });
  expect(other).toMatchObject({ outcome: 'refused', because: 'ann agreed to something else: session, arguments' });
  expect(await sayAs(asked.id, 'bob', { grant: { kind: 'session' } })).toEqual({ outcome: 'taken' });
  expect(await asked.waiting).toBe('ran');
  expect(await readOne(installation.pool, asked.id)).toMatchObject({ consents: ['ann', 'bob'], verified: true });
});

test('two people grant the shorter time, also after the workflow was lost', async () => {
  const asked = await held('grave-time', { isSecurity: true });
  const until = Date.now() + 3_600_000;
  expect(await sayAs(asked.id, 'ann', { grant: { kind: 'until', until } })).toEqual({ outcome: 'taken' });
  await installation.client.workflow.getHandle(asked.workflow).terminate('by hand');
  const longer = until + 315_360_000_000;
  expect(await sayAs(asked.id, 'bob', { grant: { kind: 'until', until: longer } })).toEqual({ outcome: 'taken' });
  expect(await asked.waiting).toBe('ran');
  const found = await installation.pool.query<{ until: Date }>('select until from approval_grant where id = $1', [
    asked.id,
  ]);
  expect(found.rows[0]?.until.getTime()).toBe(until);
});

test('a signal that names the decision about another question leaves that alone, and is noted with its own', async () => {
  const [meant, signalled] = [await held('meant'), await held('signalled-instead')];
  const found = async (id: string) => {
    const text = "select reason from audit where action = 'decision refused' and detail ->> 'approval' = $1";
    return (await installation.pool.query<{ reason: string }>(text, [id])).rows.map(({ reason }) => reason);
  };
  const { id: token } = await tokenOf('carol', ['approver']);
  // Written down, and nobody was told of it yet.
  const decision = newOutcomeId();
  await installation.pool.query(
    `insert into approval_decision (id, approval, verb, by, token, reason, signalled_at)
     values ($1, $2, 'approve', 'carol', $3, '', clock_timestamp())`,
    [decision, meant.id, token],
  );
  await signal(signalled.workflow, 'deny', { decision });
  await eventually(async () => expect(await found(signalled.id)).toEqual(['there is no such decision']));
  expect(await found(meant.id)).toEqual([]);
  await signal(meant.workflow, 'approve', { decision });
  expect(await told(decision)).toEqual({ outcome: 'taken' });
  expect(await meant.waiting).toBe('ran');
  expect(await readOne(installation.pool, signalled.id)).toMatchObject({ status: 'pending' });
});

test('no workflow task has failed', async () => {
  expect(await failedTasks(installation)).toEqual([]);
});
