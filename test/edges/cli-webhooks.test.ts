import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { jsonOf, runCli, widest } from '../support/run-cli.ts';
import { startReceiver } from '../support/webhook-receiver.ts';
import type { Received } from '../support/webhook-receiver.ts';
import { fail, keyOf, untilStatus } from '../workflow/support.ts';

let installation: Installation;
let gate: Gate;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
const env = () => ({ DATABASE_URL: installation.databaseUrl, SURETY_PUBLIC_URL: 'https://trust.example/' });
const webhooks = (...args: string[]) => runCli(['webhooks', ...args], { env: env() });
const json = (...args: string[]) => jsonOf(['webhooks', ...args], { env: env() });
const refused = (text: string) => ({ stderr: expect.stringContaining(text) as string });

beforeAll(async () => {
  installation = await createInstallation();
  await installation.startWorker();
  gate = await installation.connect({ agent: 'builder' });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await installation.close();
});

test('with nothing there says so', async () => {
  expect(await webhooks('list')).toMatchObject({ code: 0, stdout: 'There are no webhooks.\n' });
  expect(await webhooks('dead')).toMatchObject({ code: 0, stdout: 'Everything was delivered.\n' });
  expect(await webhooks('replay', '--all')).toMatchObject({ code: 0, stdout: '0 deliveries will be sent again.\n' });
});

test('refuses targets that are nowhere to go, and adds nothing', async () => {
  expect(await webhooks('add', receiver.url)).toMatchObject({ code: 2, ...refused('127.0.0.1 is a loopback address') });
  expect(await webhooks('add', 'http://localhost:9/')).toMatchObject({ code: 2, ...refused('localhost leads to') });
  expect(await webhooks('add', 'http://169.254.169.254/')).toMatchObject({ code: 2, ...refused('link-local') });
  expect(await webhooks('add', 'http://2130706433/')).toMatchObject({ code: 2, ...refused('spelled another way') });
  expect(await webhooks('add', 'file:///etc/passwd')).toMatchObject({
    code: 2,
    ...refused('neither http: nor https:'),
  });
  const withPassword = await webhooks('add', 'http://me:s3cretpass@example.com/');
  expect(withPassword).toMatchObject({ code: 2, ...refused('it holds credentials') });
  expect(withPassword.stderr).not.toContain('s3cretpass');
  expect(await webhooks('add', receiver.url, '--allow-private', '--events', 'tool.gone')).toMatchObject({
    ...{ code: 2, ...refused('"tool.gone" is no event') },
  });
  expect(await webhooks('add', receiver.url, '--allow-private', '--retry-for', '60d')).toMatchObject({ code: 2 });
  expect(await webhooks('add', 'http://no-such-host.invalid/')).toMatchObject({
    code: 1,
    ...refused('Correct the host'),
  });
  expect(await json('list')).toEqual([]);
});

test('adds, shows the secret once, tests, lists, gives up, replays and removes', async () => {
  const url = `${receiver.url}/services/plain-secret?key=abcdef0123456789abcdef`;
  const added = await webhooks('add', url, '--allow-private', '--events', 'tool.escalated', '--retry-for', '2s');
  expect(added).toMatchObject({ code: 0, ...refused('it is not shown again') });
  const secret = added.stdout.trim();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const listed = await webhooks('list');
  expect(listed.stdout).toContain(`${receiver.url}/…`);
  expect(listed.stdout).toContain('tool.escalated');
  expect(listed.stdout + JSON.stringify(await json('list'))).not.toMatch(/whsec_|abcdef0123|plain-secret/);
  expect(widest(listed.stdout.replaceAll('http://', ''))).toBeLessThanOrEqual(80);
  const [{ id }] = (await json('list')) as [{ id: string }];

  receiver.answers((_, response) => response.writeHead(200).end('thanks'));
  expect(await webhooks('test', id.slice(-8))).toMatchObject({
    ...{ code: 0, stdout: `${receiver.url}/… answered 200: thanks\n` },
  });
  expect(receiver.verified('/services/plain-secret?key=abcdef0123456789abcdef', secret)).toMatchObject([
    { type: 'webhook.test', data: { webhook: id, url: 'https://trust.example' } },
  ]);
  expect(await webhooks('test')).toMatchObject({ code: 2, ...refused('There is no terminal to ask on') });
  receiver.answers((_, response) => response.writeHead(500).end());
  expect(await json('test', id)).toMatchObject({ delivered: false, status: 500 });
  expect((await webhooks('test', id)).code).toBe(1);

  await fail(gate, 'flaky', 3);
  await untilStatus(installation, keyOf('flaky'), 'ESCALATED');
  const dead = await eventually(async () => {
    const found = (await json('dead')) as { id: string; type: string; error: string; attempts: number }[];
    expect(found).toMatchObject([{ type: 'tool.escalated', error: 'answered 500', webhook: id }]);
    return found[0] as { id: string };
  });
  expect((await webhooks('dead')).stdout).toMatch(new RegExp(`${dead.id.slice(-8)} +tool.escalated`));
  expect((await webhooks('list')).stdout).toContain('1 dead');
  receiver.answers((_, response) => response.writeHead(204).end());
  expect(await webhooks('replay')).toMatchObject({ code: 2, ...refused('Which deliveries?') });
  expect(await webhooks('replay', 'ffffffff')).toMatchObject({ code: 1, ...refused('nothing was changed') });
  expect(await webhooks('replay', dead.id.slice(-8))).toMatchObject({
    ...{ code: 0, stdout: '1 delivery will be sent again.\n' },
  });
  await eventually(() => expect(receiver.received.at(-1)?.id).toBe(dead.id));
  await eventually(async () => expect(await json('dead')).toEqual([]));

  expect(await webhooks('remove', id.slice(-8))).toMatchObject({ code: 0 });
  expect(await json('list')).toEqual([]);
  expect(await webhooks('replay', dead.id)).toMatchObject({ code: 1, ...refused('has no webhook any more') });
  expect(await webhooks('test', id)).toMatchObject({ code: 1, ...refused('is no webhook') });
  const noted = await installation.pool.query("select detail from audit where action like 'webhook%'");
  expect(noted.rows).toHaveLength(3);
  expect(JSON.stringify(noted.rows)).toContain(`${receiver.url}/…`);
  expect(JSON.stringify(noted.rows)).not.toMatch(/plain-secret|abcdef0123/);
});

test('rotates a secret: for a while both verify, and with --now the old one no more', async () => {
  const first = (await json('add', `${receiver.url}/rotated`, '--allow-private')) as { id: string; secret: string };
  const { id } = first;
  const sent = async (): Promise<Received> => {
    expect(await webhooks('test', id)).toMatchObject({ code: 0 });
    const found = receiver.received.filter(({ path }) => path === '/rotated').at(-1);
    if (found === undefined) throw new Error('nothing came');
    return found;
  };
  const verifies = ({ body, headers }: Received, secret: string): boolean => {
    try {
      return new Webhook(secret).verify(body, headers) !== undefined;
    } catch {
      return false;
    }
  };
  const rotated = await webhooks('rotate', id.slice(-8));
  expect(rotated).toMatchObject({ code: 0, ...refused('it is not shown again') });
  const second = rotated.stdout.trim();
  const both = await sent();
  expect([first.secret, second].map((secret) => verifies(both, secret))).toEqual([true, true]);
  const { secret: third } = (await json('rotate', id, '--now')) as { secret: string };
  const last = await sent();
  expect([first.secret, second, third].map((secret) => verifies(last, secret))).toEqual([false, false, true]);
  expect(await webhooks('rotate', id, '--overlap', '31d')).toMatchObject({ code: 2, ...refused('too long') });
  const stored = await installation.pool.query("select detail from audit where action = 'webhook secret rotated'");
  expect(stored.rowCount).toBe(2);
  expect(JSON.stringify(stored.rows)).not.toContain('whsec_');
});
