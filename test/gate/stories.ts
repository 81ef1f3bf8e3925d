import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { argumentsDigest } from '../../src/domain/outcome/digest.ts';
import { serverKey, toolKey } from '../../src/domain/key/tool-key.ts';
import { consumeGrant } from '../../src/postgres/grants.ts';
import { newOutcomeId } from '../../src/postgres/outcome-id.ts';
import { readDecided } from '../../src/postgres/read-approvals.ts';
import type { ShownApproval } from '../../src/postgres/read-approvals.ts';
import { ApprovalRequired, CallDenied, InvalidReport, NotApproved } from '../../src/gate/index.ts';
import type { Gate } from '../../src/gate/index.ts';
import { decideAs } from '../support/decide-as.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation, Way } from '../support/installation.ts';
import { escalateTool, failure, keyOf, openQuestion, pause, untilStatus } from '../workflow/support.ts';

/** What a gate promises, whichever way it speaks with the ledger. */
export function gateStories(way: Way): void {
  let installation: Installation;
  let gate: Gate;

  beforeAll(async () => {
    installation = await createInstallation(
      {
        toolRules: {
          'drop_*': { risk: 'destructive' },
          http_request: { escalationDurationSeconds: 2, cooldownSeconds: 1, successCountToRecover: 2 },
        },
      },
      way,
    );
    await installation.startWorker();
    gate = await installation.connect({ agent: 'builder', session: 's1' });
    await gate.report({ tool: 'drop_table', success: true });
  });
  afterAll(() => installation.close());

  const escalated = (tool: string) => escalateTool(installation, gate, tool);

  const open = (tool: string) => openQuestion(installation, tool);

  const say = (approval: ShownApproval, verb: 'approve' | 'deny', more: object = {}) =>
    decideAs(installation.pool, { approval: approval.id, verb, by: 'alice', reason: 'looked at it', ...more });

  const endOf = async (id: string) =>
    (await readDecided(installation.pool, 1000)).find((one) => one.id === id) as ShownApproval;

  const workflowOf = async (id: string) => {
    const found = await installation.pool.query<{ id: string }>(
      "select 'approval:' || identity || '/' || ordinal as id from approval where id = $1",
      [id],
    );
    return found.rows[0]?.id ?? '';
  };

  test('a tool breaks, is escalated, cools down by itself, is probed and earns trust back', async () => {
    const events: string[] = [];
    for (const name of ['escalated', 'recovering', 'recovered'] as const)
      gate.on(name, ({ notice }) => events.push(`${name}: ${notice}`));
    const args = { url: 'https://api.example.com/data' };
    const call = { tool: 'http_request', args };
    for (let i = 0; i < 3; i += 1)
      await gate.report({ ...call, result: { error: 'upstream exploded', http_status: 503 } });
    expect(gate.check(call)).toMatchObject({ decision: 'ask', via: 'person' });
    await eventually(() => expect(gate.check(call)).toMatchObject({ decision: 'ask', via: 'probe' }));
    const fetched = gate.guard('http_request', () => Promise.resolve({ data: 1 }));
    await fetched(args);
    await fetched(args);
    await eventually(() => expect(gate.check(call)).toMatchObject({ decision: 'allow' }));
    expect(events.map((event) => event.split(':')[0])).toEqual(['escalated', 'recovering', 'recovered']);
    expect(events[2]).toContain('api.example.com');
  });

  describe('a destructive tool', () => {
    test('that has worked before runs at the first call of a new process', async () => {
      const gate = await installation.connect();
      await expect(gate.guard('drop_table', () => 'dropped')({})).resolves.toBe('dropped');
    });

    test('that nobody has seen asks', async () => {
      const gate = await installation.connect({ approvalWaitMs: 0 });
      await expect(gate.guard('drop_database', () => 'dropped')({})).rejects.toThrow(ApprovalRequired);
    });

    test('a bare check is answered from memory, and rightly as soon as that has been filled', async () => {
      const gate = await installation.connect();
      const tool = gate.tool('local', 'drop_table');
      expect(tool.check().decision).toBe('ask');
      await eventually(() => expect(tool.check().decision).toBe('allow'), 1000);
    });
  });

  test('what could not be reported is refused before it runs', async () => {
    const gate = await installation.connect();
    let ran = 0;
    const tool = gate.guard('t', () => (ran += 1));
    await expect(tool({}, { callId: '' })).rejects.toThrow(InvalidReport);
    expect(ran).toBe(0);
  });

  describe('a held call', () => {
    test('waits for a person, runs once approved, and asks again the next time', async () => {
      await escalated('deploy');
      const runs: unknown[] = [];
      const deploy = gate.guard('deploy', (args: { to: string }) => (runs.push(args), 'deployed'));
      const waiting = deploy({ to: 'production' });
      const question = await open('deploy');
      expect(question).toMatchObject({
        ...{
          agent: 'builder',
          session: 's1',
          state: 'ESCALATED',
          arguments: { to: 'production' },
          asked: 1,
          version: 1,
        },
      });
      expect(runs).toEqual([]);
      await say(question, 'approve');
      expect(await waiting).toBe('deployed');
      expect(runs).toEqual([{ to: 'production' }]);
      expect(await endOf(question.id)).toMatchObject({
        ...{ status: 'approved', endedBy: 'alice', endReason: 'looked at it', verified: true },
        grant: { kind: 'once' },
      });

      const again = deploy({ to: 'production' });
      const second = await open('deploy');
      expect(second.id).not.toBe(question.id);
      await say(second, 'deny', { reason: 'not twice' });
      await expect(again).rejects.toThrow('denied by alice: not twice');
      // A denial answers for a while, without anybody being asked again.
      await expect(deploy({ to: 'production' })).rejects.toThrow(NotApproved);
      expect(runs).toHaveLength(1);
    });

    test('is the same question however often it is asked, also by a process that comes back', async () => {
      await escalated('restart');
      const impatient = await installation.connect({ agent: 'builder', session: 's1', approvalWaitMs: 0 });
      const run = impatient.guard('restart', () => 'done');
      const errors = await Promise.all([1, 2, 3].map(() => run({ n: 1 }).catch((error: unknown) => error)));
      expect(errors.every((error) => error instanceof ApprovalRequired)).toBe(true);
      const [first] = errors as ApprovalRequired[];
      await impatient.close();

      const question = await open('restart');
      expect(question).toMatchObject({ id: first?.approval, asked: 3 });
      await say(question, 'approve');
      await eventually(async () => expect((await endOf(question.id)).status).toBe('approved'));
      const back = await installation.connect({ agent: 'builder', session: 's1' });
      expect(await back.guard('restart', () => 'done')({ n: 1 })).toBe('done');
    });

    test('runs with the arguments that the person has edited, and the record keeps both', async () => {
      await escalated('delete_rows');
      const ran: unknown[] = [];
      const remove = gate.guard('delete_rows', (args: { table: string; limit?: number }) => void ran.push(args));
      const waiting = remove({ table: 'users' });
      const question = await open('delete_rows');
      await say(question, 'approve', { edit: { table: 'users', limit: 10 } });
      await waiting;
      expect(ran).toEqual([{ table: 'users', limit: 10 }]);
      const end = await endOf(question.id);
      expect(end.arguments).toEqual({ table: 'users' });
      expect(end.edited?.arguments).toEqual({ table: 'users', limit: 10 });
      expect(end.edited?.digest).not.toBe(end.digest);
      const history = JSON.stringify(
        await installation.client.workflow.getHandle(await workflowOf(question.id)).fetchHistory(),
      );
      expect(history).not.toContain(Buffer.from('"limit"').toString('base64').slice(0, 6));
      expect(history).not.toContain('limit');
    });

    test('is let go when the tool recovers meanwhile, and refused when it is blocked', async () => {
      await escalated('flaky');
      const flaky = gate.guard('flaky', () => 'ok');
      const waiting = flaky({ n: 1 });
      const question = await open('flaky');
      await installation.client.workflow.getHandle(keyOf('flaky')).executeUpdate('reset', { args: [{ by: 'ann' }] });
      expect(await waiting).toBe('ok');
      await eventually(async () => expect((await endOf(question.id)).status).toBe('withdrawn'));

      await escalated('bad');
      const bad = gate.guard('bad', () => 'ok')({ n: 1 });
      const refused = expect(bad).rejects.toThrow(CallDenied);
      await open('bad');
      await installation.client.workflow.getHandle(keyOf('bad')).executeUpdate('block', { args: [{ reason: 'evil' }] });
      await refused;
    });
  });

  describe('a grant', () => {
    test('for the session lets later calls through without asking, until it is revoked or the tool is blocked', async () => {
      await escalated('upload');
      // By whose leave it runs is known, whether or not anything was used up for it.
      const upload = gate.guard('upload', (_: { n: number }, { grant }) => grant?.by);
      const waiting = upload({ n: 1 });
      const question = await open('upload');
      await say(question, 'approve', { grant: { kind: 'session', covers: 'tool' } });
      await waiting;
      await eventually(() =>
        expect(gate.check({ tool: 'upload', args: { n: 2 } })).toMatchObject({ decision: 'allow' }),
      );
      expect(gate.check({ tool: 'upload', args: {}, session: 'another' })).toMatchObject({ decision: 'ask' });
      expect(await upload({ n: 2 })).toBe('alice');

      await installation.client.workflow.getHandle(keyOf('upload')).executeUpdate('block', { args: [{ reason: 'x' }] });
      const revoked = await installation.pool.query<{ reason: string }>(
        'select revoke_reason as reason from approval_grant where id = $1',
        [question.id],
      );
      expect(revoked.rows[0]?.reason).toBe('blocked');
    });
  });

  describe('a person answers for what was asked', () => {
    /** Words alone: a person is asked, and the tool is not blocked. */
    const speakOfSecurity = (tool: string) =>
      gate.report({ tool, success: false, error: 'security violation detected' });

    test('and is asked anew when security is concerned meanwhile', async () => {
      await escalated('worse');
      const waiting = gate.guard('worse', () => 'ran')({ n: 1 });
      const first = await open('worse');
      expect(first).toMatchObject({ isSecurity: false, state: 'ESCALATED' });
      await speakOfSecurity('worse');
      const second = await eventually(async () => {
        const found = await open('worse');
        expect(found.id).not.toBe(first.id);
        return found;
      });
      expect(second).toMatchObject({ isSecurity: true });
      expect(second.because).toContain('security is concerned');
      await eventually(async () => expect((await endOf(first.id)).status).toBe('withdrawn'));
      await say(second, 'approve');
      expect(await waiting).toBe('ran');
    });

    test('an answer that comes after more is held is no answer to that', async () => {
      await escalated('late');
      let ran = 0;
      const waiting = gate.guard('late', () => (ran += 1))({ n: 1 });
      const first = await open('late');
      // Both at once: the person has not seen what has just been reported.
      await Promise.all([speakOfSecurity('late'), say(first, 'approve')]);
      const second = await eventually(async () => {
        const found = await open('late');
        expect(found.id).not.toBe(first.id);
        return found;
      });
      expect(ran).toBe(0);
      await eventually(async () => expect((await endOf(first.id)).status).not.toBe('pending'));
      await pause(500);
      expect(ran).toBe(0);
      await say(second, 'approve');
      await waiting;
      expect(ran).toBe(1);
    });

    test('a call that was let run once and has returned does not run again, though it comes back at once', async () => {
      await escalated('once_only');
      const call = { callId: `payment ${newOutcomeId()}` };
      let ran = 0;
      const waiting = gate.guard('once_only', () => (ran += 1))({ n: 1 }, call);
      await say(await open('once_only'), 'approve');
      await waiting;
      const impatient = gate.guard('once_only', () => (ran += 1), { approvalWaitMs: 0 });
      await expect(impatient({ n: 1 }, call)).rejects.toThrow(ApprovalRequired);
      expect(ran).toBe(1);
    });

    test('a wide grant does not answer what began after its question was asked, though before it was given', async () => {
      await escalated('wide');
      const impatient = await installation.connect({ agent: 'builder', session: 's1', approvalWaitMs: 0 });
      const run = impatient.guard('wide', () => 'ran');
      await expect(run({ n: 1 })).rejects.toThrow(ApprovalRequired);
      const question = await open('wide');
      await installation.client.workflow.getHandle(keyOf('wide')).executeUpdate('reset', { args: [{ by: 'ann' }] });
      await escalated('wide');
      await say(question, 'approve', { grant: { kind: 'always', covers: 'tool' } });
      await eventually(async () => expect((await endOf(question.id)).status).toBe('approved'));
      await pause(500);
      await expect(run({ n: 2 })).rejects.toThrow(ApprovalRequired);
    });

    test('other arguments in place of those of one call never run as another', async () => {
      await escalated('edited');
      const ran: unknown[] = [];
      const run = gate.guard('edited', (args: { to: string }) => void ran.push(args.to));
      const waiting = run({ to: 'production' });
      const question = await open('edited');
      await say(question, 'approve', { edit: { to: 'staging' }, grant: { kind: 'always', covers: 'tool' } });
      await waiting;
      await eventually(() => expect(gate.check({ tool: 'edited', args: { to: 'x' } }).decision).toBe('allow'));
      await run({ to: 'elsewhere' });
      // What a person has changed is changed again, also when the grant is as wide as can be.
      expect(gate.check({ tool: 'edited', args: { to: 'production' } }).decision).toBe('ask');
      await run({ to: 'production' });
      expect(ran).toEqual(['staging', 'elsewhere', 'staging']);
      // A gate that has lost touch asks the ledger for every call.
      const call = (to: string) => ({ callId: newOutcomeId(), digest: argumentsDigest({ to }) });
      expect(await consumeGrant(installation.pool, question.id, call('elsewhere'))).toMatchObject({ edited: null });
      expect(await consumeGrant(installation.pool, question.id, call('production'))).toMatchObject({
        edited: { args: { to: 'staging' } },
      });
    });
  });

  describe('what is blocked', () => {
    const grantOf = async (server: string, tool: string, args: object, grant: object): Promise<string> => {
      for (let i = 0; i < 3; i += 1) await gate.report(failure(tool, { server, args }));
      await untilStatus(installation, toolKey(server, tool), 'ESCALATED');
      const waiting = gate.guard({ server, name: tool }, () => 'ran')(args);
      const question = await open(tool);
      await say(question, 'approve', { grant });
      await waiting;
      return question.id;
    };
    const block = (key: string, more: object = {}) =>
      installation.client.workflow.getHandle(key).executeUpdate('block', { args: [{ by: 'ann', ...more }] });
    const endOfGrant = async (id: string) => {
      const found = await installation.pool.query<{ reason: string | null }>(
        'select revoke_reason as reason from approval_grant where id = $1',
        [id],
      );
      return found.rows[0]?.reason;
    };

    test('a server takes the grants of all its tools along, and nobody else’s', async () => {
      const always = { kind: 'always', covers: 'tool' };
      const lost = [
        await grantOf('crm', 'crm_read', {}, always),
        await grantOf('crm', 'crm_write', {}, { kind: 'always' }),
      ];
      const kept = await grantOf('mail', 'mail_send', {}, always);
      // A server is known from the first call that did not reach it.
      await gate.report(failure('crm_read', { server: 'crm', severity: 'timeout', error: 'ECONNREFUSED' }));
      await eventually(() => block(serverKey('crm'), { reason: 'breach' }));
      expect(await Promise.all(lost.map(endOfGrant))).toEqual(['its server is blocked', 'its server is blocked']);
      expect(await endOfGrant(kept)).toBeNull();
      await eventually(() => expect(gate.check({ server: 'crm', tool: 'crm_write' }).decision).toBe('deny'));
      expect(gate.check({ server: 'mail', tool: 'mail_send' }).decision).toBe('allow');
      // The grants do not come back with the server.
      await installation.client.workflow.getHandle(serverKey('crm')).executeUpdate('reset', { args: [{ by: 'ann' }] });
      await eventually(() => expect(gate.check({ server: 'crm', tool: 'crm_write' }).decision).toBe('ask'));
    });

    test('a scope takes along what was granted for it or for the whole tool, and not what was for another', async () => {
      const [bad, good] = [{ url: 'https://bad.test/' }, { url: 'https://good.test/' }];
      const lost = await grantOf('local', 'http_scoped', bad, { kind: 'always', covers: 'scope' });
      const kept = await grantOf('local', 'http_scoped', good, { kind: 'always', covers: 'scope' });
      await block(keyOf('http_scoped'), { scope: 'host:bad.test', reason: 'breach' });
      expect([await endOfGrant(lost), await endOfGrant(kept)]).toEqual(['blocked', null]);
      await eventually(() => expect(gate.check({ tool: 'http_scoped', args: bad }).decision).toBe('deny'));
      expect(gate.check({ tool: 'http_scoped', args: good }).decision).toBe('allow');
    });
  });

  test('a scope that is claimed takes nothing from the one that the arguments say', async () => {
    const tool = 'http_claimed';
    const [evil, good] = [{ url: 'https://evil.test/' }, { url: 'https://good.test/' }];
    const claimed = { scope: 'host:good.test' };
    await gate.report({ tool, args: good, success: true });
    for (let i = 0; i < 3; i += 1) {
      await gate.report({ tool, args: good, result: { error: 'upstream exploded', http_status: 503 } });
    }
    await untilStatus(installation, keyOf(tool), 'ESCALATED');
    const run = gate.guard(tool, ({ url }: { url: string }) => url);
    const waiting = run(good);
    await say(await open(tool), 'approve', { grant: { kind: 'always', covers: 'scope' } });
    await waiting;
    await eventually(() => expect(gate.check({ tool, args: good })).toMatchObject({ decision: 'allow' }));
    for (let i = 0; i < 3; i += 1) {
      await gate.report({ tool, args: evil, ...claimed, result: { error: 'upstream exploded', http_status: 503 } });
    }
    expect(gate.check({ tool, args: evil, ...claimed })).toMatchObject({
      decision: 'ask',
      via: 'person',
      escalation: { scope: 'evil.test' },
    });
    const block = { by: 'ann', reason: 'evil', scope: 'host:evil.test' };
    await installation.client.workflow.getHandle(keyOf(tool)).executeUpdate('block', { args: [block] });
    await eventually(() => expect(gate.check({ tool, args: evil }).decision).toBe('deny'));
    expect(gate.check({ tool, args: evil, ...claimed }).decision).toBe('deny');
    expect(gate.check({ tool, args: good, scope: 'host:evil.test' }).decision).toBe('deny');
    expect(gate.check({ tool, ...claimed })).toMatchObject({ decision: 'allow' });
    await expect(run(evil, claimed)).rejects.toThrow(CallDenied);
  });

  describe('while somebody waits', () => {
    const order = (tool: string, name: string) =>
      installation.client.workflow.getHandle(keyOf(tool)).executeUpdate(name, { args: [{ by: 'ann', reason: 'x' }] });

    test('all who ask the same go on when nothing is held any more, whoever looks first', async () => {
      await escalated('shared');
      const run = gate.guard('shared', () => 'ran');
      const waiting = Promise.all(Array.from({ length: 20 }, () => run({ n: 1 })));
      await eventually(async () => expect((await open('shared')).asked).toBe(20));
      await order('shared', 'reset');
      expect(await waiting).toEqual(Array.from({ length: 20 }, () => 'ran'));
    });

    test('the tool may begin to recover: then the call is its probe, and nobody needs to decide', async () => {
      await escalated('recovering');
      const waiting = gate.guard('recovering', () => 'ran')({});
      const question = await open('recovering');
      await order('recovering', 'recover');
      expect(await waiting).toBe('ran');
      await eventually(async () => expect((await endOf(question.id)).status).toBe('withdrawn'));
    });

    test('an approval does not outlive a block, nor do edited arguments pass it', async () => {
      await escalated('http_blocked');
      const run = gate.guard('http_blocked', (args: { url: string }) => args.url);
      await gate.report({ tool: 'http_blocked', args: { url: 'https://evil.test/' }, success: true });
      const block = { by: 'ann', reason: 'evil', scope: 'host:evil.test' };
      await installation.client.workflow.getHandle(keyOf('http_blocked')).executeUpdate('block', { args: [block] });
      await eventually(() =>
        expect(gate.check({ tool: 'http_blocked', args: { url: 'https://evil.test/' } }).decision).toBe('deny'),
      );
      const waiting = run({ url: 'https://good.test/' });
      const refused = expect(waiting).rejects.toThrow(CallDenied);
      await say(await open('http_blocked'), 'approve', { edit: { url: 'https://evil.test/' } });
      await refused;
    });

    test('what was asked before a block is taken back, also where nobody waits for it any more', async () => {
      await escalated('doomed');
      const ask = (n: number) =>
        gate
          .guard('doomed', () => 'ran', { approvalWaitMs: 0 })({ n })
          .catch((error: unknown) => error);
      expect(await ask(1)).toBeInstanceOf(ApprovalRequired);
      const { id } = await open('doomed');
      await order('doomed', 'block');
      await eventually(async () => expect(await endOf(id)).toMatchObject({ status: 'withdrawn', endedBy: 'surety' }));
      expect((await endOf(id)).endReason).toBe('blocked');
    });

    test('a changed definition ends what was granted, and an open question about the old one', async () => {
      await escalated('defined');
      const first = gate.guard('defined', () => 'ran', { definition: { version: 1 } });
      const waiting = first({ n: 1 });
      const question = await open('defined');
      await say(question, 'approve', { grant: { kind: 'always', covers: 'tool' } });
      await waiting;
      expect(await first({ n: 2 })).toBe('ran');
      const second = gate.guard('defined', () => 'ran', { definition: { version: 2 }, approvalWaitMs: 0 });
      await expect(second({ n: 3 })).rejects.toThrow(ApprovalRequired);
      const grant = await installation.pool.query('select revoke_reason from approval_grant where id = $1', [
        question.id,
      ]);
      expect(grant.rows).toEqual([{ revoke_reason: 'its definition is another' }]);
    });

    test('each guard has its own definition, and runs by nothing that was granted to another', async () => {
      await escalated('redefined');
      const wipes = gate.guard('redefined', () => 'wiped', { definition: { d: 'wipes' }, approvalWaitMs: 0 });
      const reads = gate.guard('redefined', () => 'read', { definition: { d: 'reads' } });
      const waiting = reads({ n: 1 });
      await say(await open('redefined'), 'approve', { grant: { kind: 'always', covers: 'tool' } });
      expect(await waiting).toBe('read');
      expect(await reads({ n: 2 })).toBe('read');
      expect(gate.check({ tool: 'redefined', args: { n: 2 } })).toMatchObject({ decision: 'ask' });
      const definition = argumentsDigest({ d: 'reads' });
      expect(gate.check({ tool: 'redefined', args: { n: 2 }, definition })).toMatchObject({ decision: 'allow' });
      await expect(wipes({ n: 2 })).rejects.toThrow(ApprovalRequired);
    });
  });
}
