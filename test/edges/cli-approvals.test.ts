import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { findToken } from '../../src/postgres/tokens.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { jsonOf, runCli, widest } from '../support/run-cli.ts';
import { fail, keyOf, untilStatus } from '../workflow/support.ts';

let installation: Installation;
let gate: Gate;
const env = () => ({ DATABASE_URL: installation.databaseUrl });
const surety = (...args: string[]) => runCli(args, { env: env() });

beforeAll(async () => {
  installation = await createInstallation({
    toolRules: { manual: { autoRecovery: false, escalationDurationSeconds: 1, cooldownSeconds: 0 } },
  });
  await installation.startWorker();
  gate = await installation.connect({ agent: 'builder' });
});
afterAll(() => installation.close());

const refused = (words: string) => expect.stringContaining(words) as string;

interface Pending {
  readonly pending: readonly { readonly id: string; readonly tool: string }[];
}

async function held(tool: string, args: object): Promise<{ id: string; waiting: Promise<string> }> {
  await fail(gate, tool, 3);
  await untilStatus(installation, keyOf(tool), 'ESCALATED');
  const waiting = gate.guard(tool, (given: unknown) => JSON.stringify(given))(args);
  // Whoever looks first is answered; what becomes of the call is for the test to say.
  waiting.catch(() => undefined);
  const id = await eventually(async () => {
    const { pending } = (await jsonOf(['approvals'], { env: env() })) as Pending;
    const found = pending.find((one) => one.tool === tool);
    if (found === undefined) throw new Error('not asked yet');
    return found.id;
  });
  return { id, waiting };
}

test('with nothing to decide says so', async () => {
  expect(await surety('approvals')).toMatchObject({ code: 0, stdout: 'Nothing waits for a person.\n' });
  expect(await surety('approvals', '--decided')).toMatchObject({ stdout: 'Nothing has been decided yet.\n' });
  expect(await surety('grants')).toMatchObject({ stdout: 'No grant is open.\n' });
  expect(await surety('approve')).toMatchObject({ code: 0, stdout: 'Nothing waits for a person.\n' });
});

test('lists what waits and shows what would run, without credentials', async () => {
  const { id, waiting } = await held('send_mail', { to: 'all@example.com', api_key: 'sk-abcdefghijklmnopqrstuvwx' });
  const listed = await surety('approvals');
  expect(listed.stdout).toContain(id.slice(-8));
  expect(listed.stdout).toContain('send_mail');
  expect(listed.stdout).toMatch(/\{"to":"all@example.com","api_key":"\[redacted [0-9a-f]{4}\]"\}/);
  expect(widest(listed.stdout)).toBeLessThanOrEqual(80);
  const approved = await surety('approve', id.slice(-8), '--by', 'alice', '--yes');
  expect(approved.stdout).toContain('"to": "all@example.com"');
  expect(approved.stdout).toContain('Grants send_mail with these arguments, once.');
  expect(approved.stdout).toContain('Approved');
  expect(approved.stdout + listed.stdout).not.toContain('sk-abc');
  expect(await waiting).toContain('sk-abc');
  const decided = await surety('approvals', '--decided');
  expect(decided.stdout).toMatch(/send_mail +approved +alice[\s\S]*\{"to":"all@example.com"/);
  expect(widest(decided.stdout)).toBeLessThanOrEqual(80);
});

test('names what cannot be seen', async () => {
  const { id } = await held('turned', { path: 'safe\u202egnp.exe\u200b' });
  expect((await surety('approve', id)).stdout).toContain('"safe‹U+202E›gnp.exe‹U+200B›"');
});

test('denies with a reason that the agent reads', async () => {
  const { id, waiting } = await held('wipe', { disk: 1 });
  // Nothing is left out of what was typed to make it fit.
  const spoilt = `${id.slice(-8, -4)}x${id.slice(-4)}`;
  expect(await surety('deny', spoilt, '--by', 'alice', '--yes')).toMatchObject({
    code: 1,
    stderr: refused('no question'),
  });
  const mistyped = `${id.slice(-8, -1)}${id.endsWith('0') ? '1' : '0'}`;
  expect(await surety('deny', mistyped, '--by', 'alice', '--yes')).toMatchObject({
    ...{ code: 1, stderr: refused(`Did you mean ${id.slice(-8)}?`) },
  });
  expect(await surety('deny', id, '--reason', 'never', '--by', 'alice', '--yes')).toMatchObject({ code: 0 });
  await expect(waiting).rejects.toThrow('denied by alice: never');
  expect((await surety('history', 'wipe')).stdout).toMatch(/→ approval denied +alice\n +never/);
});

test('grants for later calls, lists and revokes them', async () => {
  const { id, waiting } = await held('copy', { path: '/srv/a' });
  const approved = await surety('approve', id, '--always', '--where', 'path=/srv/*', '--by', 'alice', '--yes');
  expect(approved.stdout).toContain('Grants copy where path matches /srv/*, until it is revoked.');
  await waiting;
  await eventually(() => expect(gate.check({ tool: 'copy', args: { path: '/srv/b' } }).decision).toBe('allow'));
  expect(gate.check({ tool: 'copy', args: { path: '/etc/b' } }).decision).toBe('ask');
  const grants = await surety('grants');
  expect(grants.stdout).toContain('copy where path matches /srv/*');
  // An empty variable in a script means none, also where there is but one.
  for (const none of ['', id.slice(-3)]) {
    expect(await surety('revoke', none)).toMatchObject({ code: 1, stderr: refused('nothing was changed') });
  }
  const mistyped = `${id.slice(-8, -1)}${id.endsWith('0') ? '1' : '0'}`;
  expect(await surety('revoke', mistyped)).toMatchObject({ code: 1, stderr: refused(`Did you mean ${id.slice(-8)}?`) });
  const unasked = { code: 2, stderr: expect.stringContaining('There is no terminal to ask on') as string };
  expect(await surety('revoke')).toMatchObject(unasked);
  expect(await jsonOf(['revoke', id.slice(-8), '--reason', 'over'], { env: env() })).toEqual({ revoked: [id] });
  await eventually(() => expect(gate.check({ tool: 'copy', args: { path: '/srv/b' } }).decision).toBe('ask'));
});

test('runs edited arguments', async () => {
  const { id, waiting } = await held('query', { sql: 'drop' });
  const { code } = await runCli(['approve', id, '--edit', '-', '--by', 'alice', '--yes'], {
    env: env(),
    input: '{"sql":"select"}',
  });
  expect(code).toBe(0);
  expect(await waiting).toBe('{"sql":"select"}');
});

test('says that edited arguments are no JSON, and decides nothing', async () => {
  const { id, waiting } = await held('garbled', { sql: 'drop' });
  const approve = (input: string) =>
    runCli(['approve', id, '--edit', '-', '--by', 'alice', '--yes'], { env: env(), input });
  expect(await approve('{sql')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--edit is not JSON') as string,
  });
  expect(await approve('{"sql":"select"}')).toMatchObject({ code: 0 });
  expect(await waiting).toBe('{"sql":"select"}');
});

test('runs an object only where one was asked for', async () => {
  const { id, waiting } = await held('reshaped', { sql: 'drop' });
  const approve = (input: string) =>
    runCli(['approve', id, '--edit', '-', '--by', 'alice', '--yes'], { env: env(), input });
  for (const [input, kind] of [
    ['["select"]', 'a list'],
    ['"select"', 'a string'],
    ['1', 'a number'],
    ['true', 'a boolean'],
  ] as const) {
    const { code, stderr } = await approve(input);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`The arguments are an object, and ${kind} was to run instead.`) as string,
    });
    expect(stderr).toContain('keep its form');
  }
  expect(await approve('{"sql":"select"}')).toMatchObject({ code: 0 });
  expect(await waiting).toBe('{"sql":"select"}');
});

test('lets nobody run a mask', async () => {
  const { id, waiting } = await held('masked', { url: 'https://example.com', api_key: 'sk-abcdefghijklmnopqrstuvwx' });
  const edit = (given: object) =>
    runCli(['approve', id, '--edit', '-', '--by', 'alice', '--yes'], { env: env(), input: JSON.stringify(given) });
  const [, mask = ''] = /"api_key": "(\[redacted [0-9a-f]{4}\])"/.exec((await surety('approve', id)).stdout) ?? [];
  for (const given of [
    { url: `https://example.com/?k=${mask}`, api_key: mask },
    { url: 'https://example.org', api_key: '[redacted]' },
  ]) {
    expect(await edit(given)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('[redacted …] would run as it is written') as string,
    });
  }
  expect(await edit({ url: 'https://example.org', api_key: mask })).toMatchObject({ code: 0 });
  expect(await waiting).toBe('{"url":"https://example.org","api_key":"sk-abcdefghijklmnopqrstuvwx"}');
});

test('says what is wrong, and decides nothing', async () => {
  const { id } = await held('left', {});
  expect(await surety('approve')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Which question?') as string,
  });
  expect(await surety('approve', 'ffffffffffff')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no question') as string,
  });
  expect(await surety('approve', id, '--session', '--always')).toMatchObject({ code: 2 });
  expect(await surety('approve', id, '--covers', 'tool')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Add --session') as string,
  });
  expect(await surety('approve', id, '--where', 'nothing')).toMatchObject({ code: 2 });
  expect(await surety('approve', id)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no terminal to ask on') as string,
  });
  const stale = await surety('approve', id, '--expect-version', '7', '--by', 'alice');
  expect(stale).toMatchObject({ code: 1, stderr: expect.stringContaining('it has changed since version 7') as string });
  expect(await surety('deny', id, '--by', 'builder', '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has asked and cannot decide') as string,
  });
  const { pending } = (await jsonOf(['approvals'], { env: env() })) as Pending;
  expect(pending.map((one) => one.id)).toContain(id);
});

test('lists a tool that only a person may let recover', async () => {
  await fail(gate, 'manual', 3);
  await untilStatus(installation, keyOf('manual'), 'ESCALATED');
  const listed = await eventually(async () => {
    const { stdout } = await surety('approvals');
    expect(stdout).toContain('surety recover manual');
    return stdout;
  });
  expect(listed).toContain('1 recovery to be ordered');
  expect(await surety('recover', 'manual')).toMatchObject({ code: 0 });
  expect((await surety('approvals')).stdout).not.toContain('surety recover manual');
});

test('makes tokens whose secret is shown once and kept as a hash, lists and revokes them', async () => {
  expect(await surety('token', 'create', 'x')).toMatchObject({ code: 2 });
  expect(await surety('token', 'create', 'x', '--role', 'king')).toMatchObject({ code: 2 });
  const { stdout: secret } = await surety('token', 'create', 'nightly', '--role', 'agent', '--owner', 'ann');
  expect(secret).toMatch(/^surety_[\w-]{43}\n$/);
  const stored = JSON.stringify((await installation.pool.query('select * from token')).rows);
  expect(stored).not.toContain(secret.trim());
  const listed = await surety('token', 'list');
  expect(listed.stdout).toMatch(/nightly +ann +agent/);
  expect(listed.stdout).not.toContain('surety_');
  const [token] = (await jsonOf(['token', 'list'], { env: env() })) as { id: string }[];
  expect(await surety('token', 'revoke')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no terminal to ask on') as string,
  });
  const revoked = await jsonOf(['token', 'revoke', token?.id ?? ''], { env: env() });
  expect(revoked).toMatchObject({ id: token?.id });
  expect((await surety('token', 'list')).stdout).toContain('revoked');
});

test('makes tokens that end by themselves', async () => {
  expect(await surety('token', 'create', 'brief', '--role', 'approver', '--for', 'soon')).toMatchObject({ code: 2 });
  const made = async (duration: string) =>
    (await surety('token', 'create', 'brief', '--role', 'approver', '--for', duration)).stdout.trim();
  const [hour, second] = [await made('1h'), await made('1s')];
  expect(await findToken(installation.pool, hour)).toMatchObject({ name: 'brief' });
  await eventually(async () => expect(await findToken(installation.pool, second)).toBeUndefined());
  const { stdout } = await surety('token', 'list');
  expect(stdout).toMatch(/brief +brief +approver +ends in/);
  expect(stdout).toMatch(/brief +brief +approver +ended .* ago/);
  const { id, waiting } = await held('brief', {});
  const deny = (token: string) => runCli(['deny', id, '--yes'], { env: { ...env(), SURETY_TOKEN: token } });
  expect(await deny(second)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('SURETY_TOKEN is not known') as string,
  });
  expect(await deny(hour)).toMatchObject({ code: 0 });
  await expect(waiting).rejects.toThrow('denied by brief');
});

test('decides with a token once there is one: SURETY_TOKEN, or what surety up has left; --by is then nobody', async () => {
  const make = async (name: string, role: string) =>
    (await surety('token', 'create', name, '--role', role)).stdout.trim();
  const [ann, bot, root] = [await make('ann', 'approver'), await make('bot', 'agent'), await make('root', 'admin')];
  const { id, waiting } = await held('proven', {});
  const deny = (more: Record<string, string>, ...args: string[]) =>
    runCli(['deny', id, '--yes', ...args], { env: { ...env(), ...more } });
  const refused = (because: string) => ({ code: 1, stderr: expect.stringContaining(because) as string });
  expect(await deny({})).toMatchObject(refused('nobody knows who sent this'));
  expect(await deny({}, '--by', 'ann')).toMatchObject(refused('nobody knows who sent this'));
  expect(await deny({ SURETY_TOKEN: bot }, '--by', 'ann')).toMatchObject(refused("An agent's token never decides"));
  expect(await deny({ SURETY_TOKEN: `${ann}x` })).toMatchObject(refused('SURETY_TOKEN is not known'));
  expect(await deny({ SURETY_TOKEN: ann })).toMatchObject({ code: 0 });
  await expect(waiting).rejects.toThrow('denied by ann');

  const home = mkdtempSync(join(tmpdir(), 'surety-home-'));
  writeFileSync(join(home, 'admin-token'), `${root}\n`, { mode: 0o600 });
  const second = await held('left-behind', {});
  expect(await runCli(['approve', second.id, '--yes'], { env: { ...env(), SURETY_HOME: home } })).toMatchObject({
    code: 0,
  });
  expect(await second.waiting).toBe('{}');
  const { decided } = (await jsonOf(['approvals', '--decided'], { env: env() })) as { decided: object[] };
  expect(decided).toContainEqual(expect.objectContaining({ id: second.id, endedBy: 'root', verified: true }));
});
