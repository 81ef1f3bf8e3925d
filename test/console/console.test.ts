import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { decide } from '../../src/postgres/approval-decide.ts';
import { revokeToken } from '../../src/postgres/tokens.ts';
import { launchBrowser } from '../support/browser.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { fail, keyOf, success, untilStatus } from '../workflow/support.ts';
import { scrollsSideways, seriousFindings, serveConsole, serveElsewhere, signIn } from './support.ts';

let installation: Installation;
let gate: Gate;
let browser: Browser;
let site: Awaited<ReturnType<typeof serveConsole>>;
const secrets = { approver: '', operator: '', agent: '', admin: '' };

beforeAll(async () => {
  [installation, browser] = await Promise.all([createInstallation(), launchBrowser()]);
  await installation.startWorker();
  gate = await installation.connect({ agent: 'bot', session: 'night' });
  site = await serveConsole(installation, browser);
  secrets.approver = (await site.token('alice', ['approver'])).secret;
  secrets.operator = (await site.token('otto', ['operator'])).secret;
  secrets.agent = (await site.token('robot', ['agent', 'approver'])).secret;
  secrets.admin = (await site.token('root', ['admin'])).secret;
});
afterAll(async () => {
  await browser.close();
  await site.stop();
  await installation.close();
});

async function escalate(tool: string): Promise<void> {
  await fail(gate, tool, 3);
  await untilStatus(installation, keyOf(tool), 'ESCALATED');
}

/** A real call of an agent that waits for a person. */
function hold(tool: string, args: unknown): { readonly ran: unknown[]; readonly waiting: Promise<unknown> } {
  const ran: unknown[] = [];
  const waiting = gate.guard(tool, (given: unknown) => {
    ran.push(given);
    return 'ran';
  })(args);
  waiting.catch(() => undefined);
  return { ran, waiting };
}

async function open(hash: string, as: keyof typeof secrets, options = {}): Promise<Page> {
  const { page } = await site.visit(hash, options);
  await signIn(page, secrets[as]);
  return page;
}

const row = (page: Page, name: string) => page.getByRole('listitem').getByRole('link', { name: new RegExp(name) });
const live = (page: Page) => page.locator('.live:not(.not)');

describe('signing in', () => {
  test('takes a token that is known; an agent is told that it is not for it', async () => {
    const { page } = await site.visit();
    await page.getByLabel('Your token').fill(`surety_${'0'.repeat(43)}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The token is not known').waitFor();
    await page.getByLabel('Your token').fill(secrets.agent);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText("robot is an agent's token, and agents never decide").waitFor();
    await signIn(page, secrets.approver);
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain('surety_');
  });

  test('is undone by signing out', async () => {
    const page = await open('', 'approver');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Your token').waitFor();
    await page.reload();
    await page.getByLabel('Your token').waitFor();
  });

  test('ends with the token, also on a page that is open', async () => {
    const { id, secret } = await site.token('leaver', ['approver']);
    const { page } = await site.visit();
    await signIn(page, secret);
    await revokeToken(installation.pool, id, 't');
    await page.getByRole('link', { name: 'Rules' }).click();
    await page.waitForTimeout(2100);
    await page.getByRole('link', { name: 'Grants' }).click();
    await page.getByText('The session has ended, or its token was revoked').waitFor();
    await page.getByLabel('Your token').waitFor();
  });
});

describe('tools', () => {
  test('an escalated one appears without reload, and says why and what comes next', async () => {
    const page = await open('', 'approver');
    await live(page).waitFor();
    await page.evaluate('window.isSamePage = true');
    await escalate('appearing');
    await row(page, 'escalated appearing .*tried again in').waitFor();
    await page.getByLabel('Search by name or server').fill('appear');
    await row(page, 'appearing').click();
    await page.getByRole('heading', { name: 'appearing' }).waitFor();
    await page.getByText(/escalation of appearing ends in/).waitFor();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    expect(await page.getByRole('link', { name: /in Temporal UI/ }).getAttribute('href')).toContain(
      encodeURIComponent(keyOf('appearing')),
    );
    expect(await page.getByRole('button', { name: 'Reset …' }).count()).toBe(0);
    expect(await page.evaluate('window.isSamePage')).toBe(true);
  });

  test('an operator blocks one with a reason and resets it', async () => {
    await gate.report(success('blockable'));
    const page = await open(`#/tools/${encodeURIComponent(keyOf('blockable'))}`, 'operator');
    await page.getByRole('button', { name: 'Block …' }).click();
    await page.getByLabel('Reason').fill('incident 42');
    await page.getByRole('button', { name: 'Block blockable' }).click();
    await page.getByText('blockable is blocked.').waitFor();
    await page.getByText('block ordered').waitFor();
    await page.getByRole('button', { name: 'Reset …' }).click();
    await page.getByRole('button', { name: 'Reset blockable' }).click();
    await page.getByText('blockable is trusted.').waitFor();
  });
});

describe('the inbox', () => {
  test('approves with the keyboard, and the waiting agent continues', async () => {
    await escalate('keyed');
    const page = await open('#/approvals', 'approver');
    const { waiting, ran } = hold('keyed', { path: '/tmp/x' });
    await row(page, 'keyed').waitFor();
    await page.keyboard.press('j');
    await page.getByText('"path": "/tmp/x"').waitFor();
    await page.keyboard.press('a');
    await page.getByText('bot may run keyed with these arguments, once.').waitFor();
    await page.keyboard.press('Enter');
    expect(await waiting).toBe('ran');
    expect(ran).toEqual([{ path: '/tmp/x' }]);
    await page.getByText('Approved: keyed.').waitFor();
    await row(page, 'keyed').waitFor({ state: 'detached' });
  });

  test('edits the arguments with a diff, and the agent runs the edited ones', async () => {
    await escalate('edited');
    const { waiting, ran } = hold('edited', { path: '/etc', mode: 'rw', api_key: 'k-4242' });
    const page = await open('#/approvals', 'approver');
    await row(page, 'edited').click();
    await page.getByText('"mode": "rw"').first().waitFor();
    await page.keyboard.press('e');
    const text = page.getByLabel('Arguments to run instead');
    // Letters that are typed are letters.
    await text.fill('{ "path": "/etc", jkade');
    await page.getByText('This is no JSON yet').waitFor();
    expect(await page.getByRole('button', { name: 'Approve the edit' }).isDisabled()).toBe(true);
    await text.fill('{ "path": "/tmp/[redacted]" }');
    await page.getByText('[redacted] would run as it is written').waitFor();
    await text.fill('{ "path": "/tmp", "mode": "rw", "api_key": "[redacted]" }');
    const diff = page.getByRole('figure');
    expect(await diff.textContent()).toMatch(/ +"mode": "rw",-removed: +"path": "\/etc"\+added: +"path": "\/tmp"/);
    await page.getByLabel('the session').check();
    await page.getByText('bot may run edited with the edited arguments, in this session.').waitFor();
    await page.getByRole('button', { name: 'Approve the edit' }).click();
    expect(await waiting).toBe('ran');
    expect(ran).toEqual([{ path: '/tmp', mode: 'rw', api_key: 'k-4242' }]);
    await page.goto(`${site.url}/#/grants`);
    await page.getByText('edited with these arguments, in this session').waitFor();
    await page.getByRole('button', { name: 'Revoke …' }).first().click();
    await page.getByRole('button', { name: 'Revoke it' }).click();
    await page.getByText('Revoked the grant of edited.').waitFor();
  });

  test('denies with a reason that the agent reads', async () => {
    await escalate('denied');
    const { waiting } = hold('denied', {});
    const page = await open('#/approvals', 'approver');
    await row(page, 'denied').click();
    await page.getByRole('heading', { name: 'What will run' }).waitFor();
    await page.keyboard.press('d');
    await page.keyboard.type('not today, jade');
    await page.keyboard.press('Enter');
    await expect(waiting).rejects.toThrow('denied by alice: not today, jade');
    await page.getByRole('button', { name: 'decided' }).click();
    await row(page, 'denied').waitFor();
  });

  test('a second click, or a second Enter, decides nothing twice', async () => {
    await escalate('doubled');
    const { waiting, ran } = hold('doubled', {});
    const page = await open('#/approvals', 'approver');
    await row(page, 'doubled').click();
    await page.getByRole('button', { name: /^Approve …/ }).click();
    await page.getByRole('button', { name: 'Approve', exact: true }).dblclick({ delay: 5 });
    expect(await waiting).toBe('ran');
    expect(ran).toHaveLength(1);
    const made = await installation.pool.query(
      `select 1 from approval_decision d join approval a on a.id = d.approval where a.tool = 'doubled'`,
    );
    expect(made.rowCount).toBe(1);
  });

  test('a stale tab is told what changed, and decides only after another look', async () => {
    await escalate('moving');
    const { waiting } = hold('moving', {});
    const page = await open('#/approvals', 'approver');
    await row(page, 'moving').click();
    await page.getByRole('button', { name: /^Deny …/ }).click();
    const found = await installation.pool.query<{ id: string }>("select id from approval where tool = 'moving'");
    const approval = found.rows[0]?.id ?? '';
    await decide(installation.pool, { approval, verb: 'extend', by: 'bob', reason: '', extendSeconds: 3600 });
    await page.getByText('This question has changed since you opened this').waitFor();
    expect(await page.getByRole('button', { name: 'Deny', exact: true }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'I have looked' }).click();
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await expect(waiting).rejects.toThrow('denied by alice');
    // And one that has not heard of it is refused by the server.
    await escalate('unheard');
    hold('unheard', {});
    await row(page, 'unheard').click();
    await page.getByRole('button', { name: /^Approve …/ }).click();
    await page.route('**/v1/approvals/*/approve', async (route) => {
      const sent = JSON.parse(route.request().postData() ?? '{}') as Record<string, unknown>;
      await route.continue({ postData: JSON.stringify({ ...sent, expectedVersion: 0 }) });
    });
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('it has changed since version 0').waitFor();
  });
});

describe('while the server is away', () => {
  test('the page says that it is not live, and is again when it is back, with what came meanwhile', async () => {
    const page = await open('', 'approver');
    await live(page).waitFor();
    await site.stop();
    await page.getByText(/not live since .*, reconnecting/).waitFor();
    await escalate('meanwhile');
    await site.restart();
    await live(page).waitFor();
    await row(page, 'meanwhile').waitFor();
  });
});

describe('attacks', () => {
  test('names, reasons and arguments are text, whatever they hold', async () => {
    const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'`${7*7}';
    await fail(gate, evil, 3, { error: evil });
    await eventually(async () => {
      const { rows } = await installation.pool.query(
        "select 1 from trust t join subject s on s.id = t.subject where s.name like '<img%'",
      );
      expect(rows).toHaveLength(1);
    });
    hold(evil, { [evil]: evil, link: 'javascript:alert(3)', long: 'x'.repeat(200_000) });
    const page = await open('', 'admin');
    await page.getByText(evil).first().click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.goto(`${site.url}/#/approvals`);
    await page.getByText(evil).first().click();
    await page.getByRole('heading', { name: 'What will run' }).waitFor();
    expect(await page.getByLabel('Arguments', { exact: true }).textContent()).toContain('onerror');
    expect(await page.locator('img[onerror], img[src="x"], a[href^="javascript"]').count()).toBe(0);
    expect(await scrollsSideways(page)).toBe(false);
    await page.getByRole('button', { name: /^Deny …/ }).click();
    await page.getByLabel('Reason').fill(evil);
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await page.getByText('Denied:').waitFor();
  });

  test('a page elsewhere cannot write with the cookie, nor read', async () => {
    await escalate('target');
    hold('target', {});
    const page = await open('#/approvals', 'admin');
    await row(page, 'target').waitFor();
    const { rows } = await installation.pool.query<{ id: string }>("select id from approval where tool = 'target'");
    const path = `${site.url}/v1/approvals/${rows[0]?.id ?? ''}`;
    const elsewhere = await serveElsewhere(
      `<form method="post" enctype="text/plain" action="${path}/approve"><input name='{"reason":"' value='"}'></form>`,
    );
    await page.goto(elsewhere);
    const tried: unknown = await page.evaluate(`(async () => {
      const send = (type) => fetch(${JSON.stringify(`${path}/approve`)}, { method: 'POST', credentials: 'include', mode: 'no-cors',
        headers: { 'content-type': type }, body: '{}' }).then(() => 'sent', () => 'kept back');
      const read = () => fetch(${JSON.stringify(path)}, { credentials: 'include' }).then(() => 'read', () => 'kept back');
      return [await send('text/plain'), await read()];
    })()`);
    // What was sent did arrive; what came of it is in the database.
    expect(tried).toEqual(['kept back', 'kept back']);
    await page.evaluate('document.forms[0].submit()');
    await page.waitForURL(`${path}/approve`);
    const kept = await installation.pool.query<{ status: string }>("select status from approval where tool = 'target'");
    expect(kept.rows).toEqual([{ status: 'pending' }]);
  });
});

describe('for everybody', () => {
  const HASHES = () => [
    '#/tools',
    `#/tools/${encodeURIComponent(keyOf('appearing'))}`,
    '#/approvals',
    '#/grants',
    '#/rules',
  ];

  test.each(['light', 'dark'] as const)('axe finds nothing serious in %s', async (colorScheme) => {
    const { page } = await site.visit('', { colorScheme });
    await page.getByLabel('Your token').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await signIn(page, secrets.admin);
    for (const hash of HASHES()) {
      await page.goto(`${site.url}/${hash}`);
      await page.getByRole('heading').nth(0).waitFor();
      await page.waitForTimeout(150);
      if (hash === '#/approvals') {
        await page.keyboard.press('j');
        await page.getByRole('heading', { name: 'What will run' }).waitFor();
        await page.keyboard.press('e');
        await page.keyboard.press('Escape');
        await page.keyboard.press('e');
      }
      expect([hash, await seriousFindings(page)]).toEqual([hash, []]);
    }
  });

  test('at 360 pixels nothing scrolls sideways, and a question is opened and left again', async () => {
    const page = await open('', 'admin', { viewport: { width: 360, height: 740 } });
    for (const hash of HASHES()) {
      await page.goto(`${site.url}/${hash}`);
      await page.getByRole('heading').nth(0).waitFor();
      await page.waitForTimeout(150);
      expect([hash, await scrollsSideways(page)]).toEqual([hash, false]);
    }
    await page.goto(`${site.url}/#/approvals`);
    await row(page, 'target').click();
    await page.getByRole('heading', { name: 'What will run' }).waitFor();
    expect(await scrollsSideways(page)).toBe(false);
    await page.getByRole('link', { name: '← Approvals' }).click();
    await row(page, 'target').waitFor();
  });

  test('a theme that was chosen stays', async () => {
    const page = await open('', 'approver', { colorScheme: 'light' });
    const background = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    const before = await background();
    await page.getByLabel('Theme').selectOption('dark');
    expect(await background()).not.toBe(before);
    await page.reload();
    await page.getByRole('heading', { name: 'Tools' }).waitFor();
    expect(await background()).not.toBe(before);
  });
});

describe('a thousand open questions', () => {
  test('are shown at once and walked through with the keyboard; the first is approved', async () => {
    await installation.pool.query("delete from approval where status = 'pending'");
    await escalate('thousand');
    const { waiting } = hold('thousand', { n: 0 });
    await eventually(async () => {
      const asked = await installation.pool.query(
        "select 1 from approval where tool = 'thousand' and started_at is not null",
      );
      expect(asked.rowCount).toBe(1);
    });
    await installation.pool.query(
      `insert into approval select (jsonb_populate_record(a, jsonb_build_object('identity', 'copy ' || n, 'arguments', jsonb_build_object('n', n),
         'id', 'ffffffff' || substr(a.id::text, 9, 16) || lpad(to_hex(n), 12, '0')))).*
       from approval a, generate_series(1, 999) n where a.tool = 'thousand'`,
    );
    const page = await open('#/approvals', 'approver');
    await page.getByRole('button', { name: 'open 1,000' }).waitFor();
    await row(page, 'thousand').first().waitFor();
    expect(await row(page, 'thousand').count()).toBe(100);
    const pressedAt = Date.now();
    for (let i = 0; i < 80; i += 1) await page.keyboard.press('j');
    // The next page comes before one is at the end of this.
    await row(page, 'thousand').nth(199).waitFor();
    for (let i = 0; i < 40; i += 1) await page.keyboard.press('j');
    await page.getByText('"n": 119').waitFor();
    expect(Date.now() - pressedAt).toBeLessThan(15_000);
    expect(await row(page, 'thousand').count()).toBe(200);
    for (let i = 0; i < 119; i += 1) await page.keyboard.press('k');
    await page.getByText('"n": 0').waitFor();
    await page.keyboard.press('a');
    await page.getByText('bot may run').waitFor();
    await page.keyboard.press('Enter');
    await waiting;
    await page.getByRole('button', { name: 'open 999' }).waitFor();
    await page.getByText('"n": 1', { exact: false }).first().waitFor();
    await page.screenshot({ path: '.surety/thousand.png' });
    expect(await seriousFindings(page)).toEqual([]);
  });
});
