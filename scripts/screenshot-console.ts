// Takes the pictures in docs/images of the console, and of a question in Temporal UI, on a stack that `npm start` runs and
// that has nothing in it yet: SURETY_HOME=/tmp/pictures npm start, then SURETY_HOME=/tmp/pictures npx tsx scripts/screenshot-console.ts
import { mkdir } from 'node:fs/promises';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { loadConfig } from '../src/config.ts';
import { connect } from '../src/gate/index.ts';
import { createPool } from '../src/postgres/pool.ts';
import { publishRules } from '../src/postgres/rules.ts';
import { createToken } from '../src/postgres/tokens.ts';
import { parseRules } from '../src/domain/rules/parse-rules.ts';
import { readStack } from '../src/stack/stack-file.ts';
import { launchBrowser } from '../test/support/browser.ts';

const config = loadConfig();
const found = await readStack(config.home);
if (!found.running) throw new Error('start the stack first: npm start');
const { databaseUrl, uiUrl, namespace } = found.stack;
const url = `http://${config.http.host}:${config.http.port}`;
const images = 'docs/images';
await mkdir(images, { recursive: true });

const pool = createPool(databaseUrl, { max: 2 });
const toolRules = {
  'deploy*': { risk: 'destructive', approval: { approvers: [['ann'], ['bob', 'carol']] } },
  'legacy-sync': { countThreshold: 3, autoRecovery: false, escalationDurationSeconds: 1, cooldownSeconds: 0 },
};
await publishRules(pool, parseRules({ toolRules }), 'ann', 'deployments are asked about');
const { secret } = await createToken(pool, {
  name: 'ann',
  owner: 'ann',
  roles: ['approver', 'operator'],
  createdBy: 'pictures',
});
const gate = await connect({ databaseUrl, agent: 'release-bot', session: 'release 4.2' });

const succeed = async (tool: string, times: number, server?: string) => {
  for (let i = 0; i < times; i += 1)
    await gate.report({ tool, success: true, ...(server === undefined ? {} : { server }) });
};
const fail = async (tool: string, times: number, error: string, more: object = {}) => {
  for (let i = 0; i < times; i += 1)
    await gate.report({ tool, success: false, severity: 'server_error', error, ...more });
};
await succeed('read_file', 180);
await succeed('search', 90, 'github');
await succeed('create_issue', 140, 'github');
await fail('create_issue', 2, 'HTTP 500: try again', { server: 'github' });
await succeed('create_issue', 30, 'github');
await succeed('http_request', 60);
await fail('http_request', 4, 'HTTP 503 from the payment service', {
  args: { url: 'https://api.payments.example/v1/charge' },
});
await succeed('deploy_service', 25);
await fail('deploy_service', 3, 'rollout did not finish: 2 of 5 replicas');
await fail('legacy-sync', 3, 'cursor out of range');
await gate.report({
  tool: 'bash',
  success: false,
  severity: 'security',
  error: 'policy: writes outside the workspace',
});
await until(async () => (await pool.query("select 1 from trust where status <> 'TRUSTED'")).rowCount === 4);

const hold = (tool: string, args: unknown) =>
  void gate
    .guard(
      tool,
      (given: unknown) => given,
    )(args)
    .catch(() => undefined);
hold('deploy_service', {
  service: 'checkout',
  version: '4.2.0',
  replicas: 5,
  strategy: { type: 'rolling', maxUnavailable: 2 },
  environment: 'production',
});
hold('http_request', {
  url: 'https://api.payments.example/v1/charge',
  method: 'POST',
  body: { amount: 4200, currency: 'EUR' },
  headers: { 'x-api-key': 'k-4242' },
});
hold('legacy-sync', { since: '2026-11-01' });
await until(async () => (await pool.query('select 1 from approval where started_at is not null')).rowCount === 3);

const browser = await launchBrowser();
for (const theme of ['light', 'dark'] as const) {
  for (const [size, viewport] of [
    ['desktop', { width: 1280, height: 860 }],
    ['phone', { width: 360, height: 740 }],
  ] as const) {
    await pictures(`${size}-${theme}`, { viewport, colorScheme: theme });
  }
}
if (uiUrl !== undefined) await questionInTemporal(uiUrl);
await browser.close();
await gate.close();
await pool.end();

async function pictures(suffix: string, options: BrowserContextOptions): Promise<void> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await page.goto(url);
  await page.getByLabel('Your token').fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('listitem').first().waitFor();
  await take(page, `console-tools-${suffix}`);
  await page.getByRole('link', { name: /http_request/ }).click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  await take(page, `console-tool-${suffix}`);
  await page.goto(`${url}/#/approvals`);
  await page.getByRole('listitem').first().waitFor();
  if (suffix.startsWith('desktop')) {
    await page.getByRole('link', { name: /http_request/ }).click();
    await page.getByText('"amount"').waitFor();
  }
  await take(page, `console-approvals-${suffix}`);
  await page.goto(`${url}/#/approvals`);
  await page
    .getByRole('link', { name: /deploy_service/ })
    .first()
    .click();
  await page.getByRole('button', { name: /^Edit …/ }).click();
  const text = page.getByLabel('Arguments to run instead');
  await text.fill(
    (await text.inputValue())
      .replace('"production"', '"staging"')
      .replace('"maxUnavailable": 2', '"maxUnavailable": 1'),
  );
  await page.getByRole('figure').scrollIntoViewIfNeeded();
  await take(page, `console-edit-${suffix}`);
  await page.goto(`${url}/#/approvals`);
  await page
    .getByRole('link', { name: /http_request/ })
    .first()
    .click();
  await page.getByRole('button', { name: /^Approve …/ }).click();
  await page.getByLabel('until a time').check();
  await page.getByLabel('arguments that match').check();
  await page.getByLabel('url', { exact: true }).fill('https://api.payments.example/*');
  await page.getByRole('button', { name: 'Cancel' }).scrollIntoViewIfNeeded();
  await take(page, `console-grant-${suffix}`);
  await context.close();
}

async function take(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.waitForTimeout(400);
  await page.screenshot({ path: `${images}/${name}.png` });
  console.log(`${images}/${name}.png`);
}

/** As an operator finds it who opens it there, open and decided. */
async function questionInTemporal(ui: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const asked = await pool.query<{ identity: string; ordinal: number; id: string }>(
    "select identity, ordinal, id from approval where tool = 'deploy_service'",
  );
  const [question] = asked.rows;
  if (question === undefined) throw new Error('nothing was asked');
  const workflow = `approval:${question.identity}/${question.ordinal}`;
  const look = async (name: string) => {
    await page.goto(`${ui}/namespaces/${namespace}/workflows/${encodeURIComponent(workflow)}`, { waitUntil: 'load' });
    await page.getByText(workflow).first().waitFor();
    await page.getByText('User Metadata', { exact: true }).first().click();
    await page.waitForTimeout(2500);
    await page.screenshot({ path: `${images}/${name}.png` });
    console.log(`${images}/${name}.png`);
  };
  await look('temporal-approval-open');
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ reason: 'watched the rollout', grant: 'once' });
  await fetch(`${url}/v1/approvals/${question.id}/approve`, { method: 'POST', headers, body });
  await look('temporal-approval-decided');
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 300 && !(await isSo()); i += 1) await new Promise((next) => setTimeout(next, 100));
}
