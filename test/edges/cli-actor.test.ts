import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToken } from '../../src/postgres/tokens.ts';
import type { Role } from '../../src/postgres/tokens.ts';
import { createInstallation } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { runCli } from '../support/run-cli.ts';

// Who is written down for what is done at a terminal. No worker runs: what is recorded is not carried out.

let installation: Installation;
const home = mkdtempSync(join(tmpdir(), 'surety-home-'));
const rules = join(home, 'surety.json');
const secrets: Partial<Record<string, string>> = {};

beforeAll(async () => {
  installation = await createInstallation();
  const gate = await installation.connect();
  await gate.report({ tool: 'pay', success: true });
  const roles: Record<string, Role[]> = {
    eve: ['agent', 'admin'],
    abe: ['approver'],
    olga: ['operator'],
    root: ['admin'],
  };
  for (const [name, has] of Object.entries(roles)) {
    const made = await createToken(installation.pool, { name, owner: name, roles: has, createdBy: 'test' });
    secrets[name] = made.secret;
  }
  writeFileSync(join(home, 'admin-token'), `${secrets['root'] ?? ''}\n`, { mode: 0o600 });
  writeFileSync(rules, '{"toolRules": {"pay": {"escalationDurationSeconds": 77}}}');
});
afterAll(() => installation.close());

const surety = (args: readonly string[], env: Record<string, string> = {}) =>
  runCli(args, { env: { DATABASE_URL: installation.databaseUrl, ...env } });
const as = (name: string, ...args: string[]) => surety(args, { SURETY_TOKEN: secrets[name] ?? '' });

const COMMANDS: readonly (readonly string[])[] = [
  ['approve', 'x', '--yes'],
  ['deny', 'x', '--yes'],
  ['extend', 'x', '--for', '1h'],
  ['revoke', 'x'],
  ['reset', 'pay', '--yes', '--no-wait'],
  ['block', 'pay', '--reason', 'x', '--yes', '--no-wait'],
  ['recover', 'pay', '--no-wait'],
  ['break-glass', '--for', '1m', '--reason', 'x', '--yes'],
  ['break-glass', '--close'],
  ['kill-switch', 'on', '--reason', 'x'],
  ['rules', 'publish', rules, '--yes'],
  ['token', 'create', 'zed', '--role', 'admin'],
  ['token', 'revoke', 'x'],
  ['webhooks', 'add', 'http://127.0.0.1:9/hook', '--allow-private'],
  ['webhooks', 'remove', 'x'],
  ['webhooks', 'rotate', 'x'],
  ['webhooks', 'replay', '--all'],
];

/** Everything that a person can change leaves an order or an entry in the audit. */
async function recorded(): Promise<readonly { actor: string; action: string }[]> {
  const found = await installation.pool.query<{ actor: string; action: string }>(
    `select actor, action from audit where actor <> 'test'
     union all select detail ->> 'by', 'order' from ledger where kind >= 3`,
  );
  return found.rows;
}

describe('whoever has a token', () => {
  test.each(COMMANDS)('of an agent cannot %s %s, whatever name they type', async (...command) => {
    const before = await recorded();
    for (const name of [[], ['--by', 'ann']]) {
      const refused = {
        code: 1,
        stdout: '',
        stderr: expect.stringContaining("An agent's token never decides") as string,
      };
      expect(await as('eve', ...command, ...name)).toMatchObject(refused);
    }
    expect(await recorded()).toEqual(before);
  });

  test.each([
    ['abe', ['reset', 'pay', '--yes', '--no-wait'], 'operator', 'approver'],
    ['abe', ['kill-switch', 'on', '--reason', 'x'], 'operator', 'approver'],
    ['olga', ['token', 'create', 'zed', '--role', 'admin'], 'admin', 'operator'],
    ['olga', ['approve', 'x', '--yes'], 'approver', 'operator'],
  ])('without the role is told what it takes: %s, %s', async (name, command, takes, has) => {
    const { code, stderr } = await as(name, ...command);
    expect(code).toBe(1);
    expect(stderr).toContain(`This takes the role ${takes}; the token has ${has}.`);
    expect(stderr).toContain(`--role ${takes}`);
  });

  test('is written down by its name, and by no other', async () => {
    expect(await as('olga', 'reset', 'pay', '--yes', '--no-wait')).toMatchObject({ code: 0 });
    expect(await as('olga', 'rules', 'publish', rules, '--yes', '--by', 'Olga')).toMatchObject({ code: 0 });
    expect(await surety(['token', 'create', 'zed', '--role', 'admin'], { SURETY_HOME: home })).toMatchObject({
      code: 0,
    });
    const { code, stderr } = await as('olga', 'kill-switch', 'on', '--reason', 'x', '--by', 'ann');
    expect({ code, stderr }).toMatchObject({ code: 2 });
    expect(stderr).toContain('The token says that this is olga, and --by "ann".');
    expect(await recorded()).toEqual([
      { actor: 'olga', action: 'rules published' },
      { actor: 'root', action: 'token created' },
      { actor: 'olga', action: 'order' },
    ]);
  });
});

describe('without a token', () => {
  test('a name is unverified, whoever typed it', async () => {
    const before = await recorded();
    const added = ['webhooks', 'add', 'http://127.0.0.1:9/hook', '--allow-private'];
    const commands = [
      ['block', 'pay', '--reason', 'x', '--yes', '--no-wait', '--by', 'ann'],
      ['break-glass', '--for', '1m', '--reason', 'x', '--yes', '--by', 'ann'],
      ['kill-switch', 'on', '--reason', 'x', '--by', 'ann'],
      ['token', 'create', 'yan', '--role', 'admin', '--by', 'ann'],
      added,
    ];
    for (const command of commands) expect(await surety(command)).toMatchObject({ code: 0 });
    const actors = (await recorded()).map(({ actor }) => actor);
    const given = Array.from({ length: 4 }, () => 'ann (unverified)');
    expect(actors.toSorted()).toEqual(
      [...before.map(({ actor }) => actor), ...given, `${userInfo().username} (unverified)`].toSorted(),
    );
  });

  test('nobody signs as Surety', async () => {
    expect(await surety(['kill-switch', 'off', '--reason', 'x', '--by', 'surety'])).toMatchObject({ code: 2 });
  });
});
