import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revokeToken } from '../../src/postgres/tokens.ts';
import { decideAs } from '../support/decide-as.ts';
import { eventually } from '../support/installation.ts';
import { fail, keyOf, openQuestion, success } from '../workflow/support.ts';
import { live, row, scrollsSideways, seriousFindings, serveElsewhere, signIn, startConsole } from './support.ts';

let desk: Awaited<ReturnType<typeof startConsole>>;
const secrets = { approver: '', agent: '', admin: '' };

beforeAll(async () => {
  desk = await startConsole();
  secrets.approver = desk.secrets.get('approver') ?? '';
  secrets.admin = desk.secrets.get('admin') ?? '';
  secrets.agent = (await desk.site.token('robot', ['agent', 'approver'])).secret;
});
afterAll(() => desk.close());

describe('signing in', () => {
  test('takes a token that is known; an agent is told that it is not for it', async () => {
    const { page } = await desk.site.visit();
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
    const page = await desk.open('', 'approver');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Your token').waitFor();
    await page.reload();
    await page.getByLabel('Your token').waitFor();
  });

  test('ends with the token, also on a page that is open', async () => {
    const { id, secret } = await desk.site.token('leaver', ['approver']);
    const { page } = await desk.site.visit();
    await signIn(page, secret);
    await revokeToken(desk.installation.pool, id, 't');
    // It may have been told by the time it is used.
    for (const name of ['Rules', 'Grants']) {
      await page
        .getByRole('link', { name })
        .click({ timeout: 2100 })
        .catch(() => undefined);
    }
    await page.getByText('The session has ended, or its token was revoked').waitFor();
    await page.getByLabel('Your token').waitFor();
  });
});

describe('tools', () => {
  test('an escalated one appears without reload, and says why and what comes next', async () => {
    const page = await desk.open('', 'approver');
    await live(page).waitFor();
    await page.evaluate('window.isSamePage = true');
    await desk.escalate('appearing');
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
    await desk.gate.report(success('blockable'));
    const page = await desk.open(`#/tools/${encodeURIComponent(keyOf('blockable'))}`, 'operator');
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
    await desk.escalate('keyed');
    const page = await desk.open('#/approvals', 'approver');
    const { waiting, ran } = desk.hold('keyed', { path: '/tmp/x' });
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
    await desk.escalate('edited');
    const { waiting, ran } = desk.hold('edited', { path: '/etc', mode: 'rw', api_key: 'k-4242' });
    const page = await desk.open('#/approvals', 'approver');
    await row(page, 'edited').click();
    await page.getByText('"mode": "rw"').first().waitFor();
    await page.keyboard.press('e');
    const text = page.getByLabel('Arguments to run instead');
    const [mask = ''] = /\[redacted [0-9a-f]{4}\]/.exec(await text.inputValue()) ?? [];
    // Letters that are typed are letters.
    await text.fill('{ "path": "/etc", jkade');
    await page.getByText('This is no JSON yet').waitFor();
    expect(await page.getByRole('button', { name: 'Approve the edit' }).isDisabled()).toBe(true);
    await text.fill('{ "path": "/tmp/[redacted]" }');
    await page.getByText('[redacted …] would run as it is written').waitFor();
    await text.fill('["/tmp"]');
    await page.getByText('The arguments are an object, and a list was to run instead.').waitFor();
    await text.fill(`{ "path": "/tmp", "mode": "rw", "api_key": "${mask}" }`);
    const diff = page.getByRole('figure');
    expect(await diff.textContent()).toMatch(/ +"mode": "rw",-removed: +"path": "\/etc"\+added: +"path": "\/tmp"/);
    await page.getByLabel('the session').check();
    await page.getByText('bot may run edited with the edited arguments, in this session.').waitFor();
    await page.getByRole('button', { name: 'Approve the edit' }).click();
    expect(await waiting).toBe('ran');
    expect(ran).toEqual([{ path: '/tmp', mode: 'rw', api_key: 'k-4242' }]);
    await page.goto(`${desk.site.url}/#/grants`);
    await page.getByText('edited with these arguments, in this session').waitFor();
    await page.getByRole('button', { name: 'Revoke …' }).first().click();
    await page.getByRole('button', { name: 'Revoke it' }).click();
    await page.getByText('Revoked the grant of edited.').waitFor();
  });

  test('denies with a reason that the agent reads', async () => {
    await desk.escalate('denied');
    const { waiting } = desk.hold('denied', {});
    const page = await desk.open('#/approvals', 'approver');
    await row(page, 'denied').click();
    await page.getByRole('heading', { name: 'What will run' }).waitFor();
    await page.keyboard.press('d');
    await page.keyboard.type('not today, jade');
    await page.keyboard.press('Enter');
    await expect(waiting).rejects.toThrow('denied by alice: not today, jade');
    await page.getByRole('button', { name: 'decided' }).click();
    await row(page, 'denied').waitFor();
  });

  test('a stale tab is told what changed, and decides only after another look', async () => {
    await desk.escalate('moving');
    const { waiting } = desk.hold('moving', {});
    const page = await desk.open('#/approvals', 'approver');
    await row(page, 'moving').click();
    await page.getByRole('button', { name: /^Deny …/ }).click();
    const found = await desk.installation.pool.query<{ id: string }>("select id from approval where tool = 'moving'");
    const approval = found.rows[0]?.id ?? '';
    await decideAs(desk.installation.pool, { approval, verb: 'extend', by: 'bob', reason: '', extendSeconds: 3600 });
    await page.getByText('This question has changed since you opened this').waitFor();
    expect(await page.getByRole('button', { name: 'Deny', exact: true }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'I have looked' }).click();
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await expect(waiting).rejects.toThrow('denied by alice');
    // And one that has not heard of it is refused by the server.
    await desk.escalate('unheard');
    desk.hold('unheard', {});
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
    const page = await desk.open('', 'approver');
    await live(page).waitFor();
    await desk.site.stop();
    await page.getByText(/not live since .*, reconnecting/).waitFor();
    await desk.escalate('meanwhile');
    await desk.site.restart();
    await live(page).waitFor();
    await row(page, 'meanwhile').waitFor();
  });
});

describe('attacks', () => {
  test('names, reasons and arguments are text, whatever they hold', async () => {
    const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'`${7*7}';
    await fail(desk.gate, evil, 3, { error: evil });
    await eventually(async () => {
      const { rows } = await desk.installation.pool.query(
        "select 1 from trust t join subject s on s.id = t.subject where s.name like '<img%'",
      );
      expect(rows).toHaveLength(1);
    });
    desk.hold(evil, { [evil]: evil, link: 'javascript:alert(3)', long: 'x'.repeat(200_000) });
    const page = await desk.open('', 'admin');
    await page.getByText(evil).first().click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.goto(`${desk.site.url}/#/approvals`);
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

  test('a page elsewhere cannot write with the cookie, because of where it comes from, nor read', async () => {
    await desk.escalate('target');
    desk.hold('target', {});
    const page = await desk.open('#/approvals', 'admin');
    await row(page, 'target').waitFor();
    const path = `${desk.site.url}/v1/approvals/${await desk.idOf('target')}`;
    const elsewhere = await serveElsewhere(
      `<form method="post" enctype="text/plain" action="${path}/approve"><input name='{"reason":"' value='"}'></form>`,
    );
    await page.goto(elsewhere);
    const read: unknown = await page.evaluate(
      `fetch(${JSON.stringify(path)}, { credentials: 'include' }).then(() => 'read', () => 'kept back')`,
    );
    expect(read).toBe('kept back');
    const answered = page.waitForResponse(`${path}/approve`);
    await page.evaluate('document.forms[0].submit()');
    // Not 415: who asks is looked at before what is asked, and alone is reason enough.
    expect((await answered).status()).toBe(403);
    expect(await statusOf('target')).toBe('pending');
  });

  test('what a form could send is refused wherever it comes from', async () => {
    const page = await desk.open('#/approvals', 'admin');
    const path = `/v1/approvals/${await desk.idOf('target')}/approve`;
    const send = (type: string, key = "localStorage.getItem('surety-page')") =>
      page.evaluate<number>(
        `fetch(${JSON.stringify(path)}, { method: 'POST', headers: { 'content-type': '${type}', 'x-surety-page': ${key} },
           body: '{"expectedVersion": 999}' }).then(({ status }) => status)`,
      );
    expect(await send('text/plain')).toBe(415);
    expect(await send('application/x-www-form-urlencoded')).toBe(415);
    // The same from the same page as JSON is heard, and refused for what it says; without the page's key it is nobody's.
    expect(await send('application/json')).toBe(409);
    expect(await send('application/json', "'stolen'")).toBe(401);
    expect(await statusOf('target')).toBe('pending');
  });
});

async function statusOf(tool: string): Promise<string | undefined> {
  const { rows } = await desk.installation.pool.query<{ status: string }>(
    'select status from approval where tool = $1',
    [tool],
  );
  return rows[0]?.status;
}

describe('for everybody', () => {
  const HASHES = () => [
    '#/tools',
    `#/tools/${encodeURIComponent(keyOf('appearing'))}`,
    '#/approvals',
    '#/grants',
    '#/rules',
  ];

  test.each(['light', 'dark'] as const)('axe finds nothing serious in %s', async (colorScheme) => {
    const { page } = await desk.site.visit('', { colorScheme });
    await page.getByLabel('Your token').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await signIn(page, secrets.admin);
    for (const hash of HASHES()) {
      await page.goto(`${desk.site.url}/${hash}`);
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
    const page = await desk.open('', 'admin', { viewport: { width: 360, height: 740 } });
    for (const hash of HASHES()) {
      await page.goto(`${desk.site.url}/${hash}`);
      await page.getByRole('heading').nth(0).waitFor();
      await page.waitForTimeout(150);
      expect([hash, await scrollsSideways(page)]).toEqual([hash, false]);
    }
    await page.goto(`${desk.site.url}/#/approvals`);
    await row(page, 'target').click();
    await page.getByRole('heading', { name: 'What will run' }).waitFor();
    expect(await scrollsSideways(page)).toBe(false);
    await page.getByRole('link', { name: '← Approvals' }).click();
    await row(page, 'target').waitFor();
  });

  test('a theme that was chosen stays', async () => {
    const page = await desk.open('', 'approver', { colorScheme: 'light' });
    const background = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    const before = await background();
    await page.getByLabel('Theme').selectOption('dark');
    expect(await background()).not.toBe(before);
    await page.reload();
    await page.getByRole('heading', { name: 'Tools' }).waitFor();
    expect(await background()).not.toBe(before);
  });
});

test('more grants than a page has are shown one page after the other', async () => {
  const { pool } = desk.installation;
  await desk.escalate('generous');
  const { waiting } = desk.hold('generous', { n: 0 });
  const { id: approval } = await openQuestion(desk.installation, 'generous');
  const grant = { kind: 'always', covers: 'tool' } as const;
  await decideAs(pool, { approval, verb: 'approve', by: 'gwen', reason: '', grant });
  await waiting;
  const copied = `'id', 'ffffffff' || substr(c.id::text, 9, 16) || lpad(to_hex(n), 12, '0')`;
  const copies = (table: string, more: string) =>
    `insert into ${table} select (jsonb_populate_record(c, jsonb_build_object(${copied}, ${more}))).*
     from ${table} c, generate_series(1, 120) n where c.id = '${approval}'`;
  await pool.query(copies('approval', `'identity', 'granted ' || n`));
  await pool.query(copies('approval_grant', copied.replace(`'id'`, `'approval'`)));
  const page = await desk.open('#/grants', 'approver');
  const shown = page.getByRole('listitem').filter({ hasText: 'any call of generous' });
  await shown.first().waitFor();
  expect(await shown.count()).toBe(100);
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect.poll(() => shown.count()).toBe(121);
});

describe('a thousand open questions', () => {
  test('are shown at once and walked through with the keyboard; the first is approved', async () => {
    await desk.installation.pool.query("delete from approval where status = 'pending'");
    await desk.escalate('thousand');
    const { waiting } = desk.hold('thousand', { n: 0 });
    await eventually(async () => {
      const asked = await desk.installation.pool.query(
        "select 1 from approval where tool = 'thousand' and started_at is not null",
      );
      expect(asked.rowCount).toBe(1);
    });
    await desk.installation.pool.query(
      `insert into approval select (jsonb_populate_record(a, jsonb_build_object('identity', 'copy ' || n, 'arguments', jsonb_build_object('n', n),
         'id', 'ffffffff' || substr(a.id::text, 9, 16) || lpad(to_hex(n), 12, '0')))).*
       from approval a, generate_series(1, 999) n where a.tool = 'thousand'`,
    );
    const page = await desk.open('#/approvals', 'approver');
    await page.getByRole('button', { name: 'open 1,000' }).waitFor();
    await row(page, 'thousand').first().waitFor();
    expect(await row(page, 'thousand').count()).toBe(100);
    for (let i = 0; i < 80; i += 1) await page.keyboard.press('j');
    // The next page comes before one is at the end of this.
    await row(page, 'thousand').nth(199).waitFor();
    // Faster than the page is drawn: none is lost.
    await page.evaluate(
      "for (let i = 0; i < 40; i += 1) document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }))",
    );
    await page.getByText('"n": 119').waitFor();
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
    await page.getByLabel('Search tool, agent, scope or arguments').fill('"n":777');
    await expect.poll(() => row(page, 'thousand').count()).toBe(1);
    await page.getByLabel('Search tool, agent, scope or arguments').fill('nothing like it');
    await page.getByText('No question is like that.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });
});
