import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decideAs } from '../support/decide-as.ts';
import { keyOf } from '../workflow/support.ts';
import { live, row, scrollsSideways, seriousFindings, startConsole } from './support.ts';

let desk: Awaited<ReturnType<typeof startConsole>>;
beforeAll(async () => {
  desk = await startConsole();
});
afterAll(() => desk.close());

const focused = (page: Page) =>
  page.evaluate<string>(`document.activeElement?.textContent?.trim() || document.activeElement?.tagName`);

async function decisionsOf(tool: string): Promise<number> {
  const made = await desk.installation.pool.query(
    'select 1 from approval_decision d join approval a on a.id = d.approval where a.tool = $1',
    [tool],
  );
  return made.rowCount ?? 0;
}

async function openQuestion(tool: string, args: unknown, options = {}) {
  await desk.escalate(tool);
  const held = desk.hold(tool, args);
  const page = await desk.open('#/approvals', 'approver', options);
  await row(page, tool).click();
  await page.getByRole('heading', { name: 'What will run' }).waitFor();
  return { page, ...held };
}

describe('nothing is decided twice', () => {
  test('two submits in one breath are one request', async () => {
    const { page, waiting, ran } = await openQuestion('doubled', {});
    let sent = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/approve')) sent += 1;
    });
    await page.getByRole('button', { name: /^Approve …/ }).click();
    // Before the page could draw a button that is off.
    await page.evaluate(
      `(() => { const form = document.querySelector('form.panel'); form.requestSubmit(); form.requestSubmit(); })()`,
    );
    expect(await waiting).toBe('ran');
    expect(ran).toHaveLength(1);
    expect([sent, await decisionsOf('doubled')]).toEqual([1, 1]);
  });

  test('while it is sent the button is off and says so', async () => {
    const { page, waiting } = await openQuestion('slow', {});
    let goOn = (): void => undefined;
    const isHeld = new Promise<void>((go) => {
      goOn = go;
    });
    await page.route('**/approve', async (route) => {
      await isHeld;
      await route.continue();
    });
    await page.getByRole('button', { name: /^Approve …/ }).click();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    expect(await page.getByRole('button', { name: 'Sending …' }).isDisabled()).toBe(true);
    goOn();
    expect(await waiting).toBe('ran');
  });

  test('of two tabs that decide at once one is told who was first', async () => {
    const { page, waiting } = await openQuestion('twice', {});
    const other = await desk.open(`#/approvals/${await desk.idOf('twice')}`, 'admin');
    // One that hears nothing of the other.
    await other.getByRole('button', { name: /^Deny …/ }).click();
    await other.route('**/v1/approvals/*', (route) => route.abort());
    await page.getByRole('button', { name: /^Approve …/ }).click();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    expect(await waiting).toBe('ran');
    const answered = other.waitForResponse('**/deny');
    await other.getByRole('button', { name: 'Deny', exact: true }).click();
    expect((await answered).status()).toBe(409);
    await other.unroute('**/v1/approvals/*');
    await other.reload();
    await other.getByText(/approved by alice/).waitFor();
  });
});

test('letters typed into a form whose question ends stay in it, and decide nothing else', async () => {
  const { page } = await openQuestion('ending', {});
  desk.hold('ending', { another: true });
  await page.getByRole('button', { name: 'open 2' }).waitFor();
  await page.keyboard.press('d');
  await page.keyboard.type('this is ');
  await decideAs(desk.installation.pool, { approval: await desk.idOf('ending'), verb: 'deny', by: 'bob', reason: '' });
  await page.getByText('It is over: denied by bob while you were at it').waitFor();
  // Outside a field these would go to the next question, open its form, and press its button.
  await page.keyboard.type('just a mistake');
  expect(await page.getByLabel(/^Reason/).inputValue()).toBe('this is just a mistake');
  expect(await page.getByRole('button', { name: 'Deny', exact: true }).isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  await page.getByText('It is over').waitFor({ state: 'detached' });
  const left = await desk.installation.pool.query(
    "select 1 from approval where tool = 'ending' and status = 'pending'",
  );
  expect(left.rowCount).toBe(1);
});

describe('a grant by pattern', () => {
  test('is held to what was asked until it is widened, says what it covers, and answers what it matches', async () => {
    const { page, waiting } = await openQuestion('writer', { path: '/tmp/a.txt', mode: 'w', deep: { x: 1 }, key: '' });
    await page.keyboard.press('a');
    expect(await page.getByLabel('this call only').isChecked()).toBe(true);
    expect(await page.getByText('For which calls').count()).toBe(0);
    await page.getByLabel('the session').check();
    expect(await page.getByLabel('the same arguments').isChecked()).toBe(true);
    await page.getByLabel('arguments that match').check();
    const submit = page.getByRole('button', { name: 'Approve', exact: true });
    await page
      .getByText('writer where mode matches w and path matches /tmp/a.txt, in this session, whatever key, deep may be')
      .waitFor();
    await page.getByLabel('path', { exact: true }).fill('/etc/*');
    await page.getByText('This call itself would not match: path.').waitFor();
    expect(await submit.isDisabled()).toBe(true);
    await page.getByLabel('path', { exact: true }).fill('');
    await page.getByLabel('mode', { exact: true }).fill('');
    await page.getByText('Nothing is asked of the arguments so').waitFor();
    expect(await submit.isDisabled()).toBe(true);
    await page.getByLabel('path', { exact: true }).fill('/tmp/*');
    await page
      .getByText('bot may run writer where path matches /tmp/*, in this session, whatever key, deep, mode may be.')
      .waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await submit.click();
    expect(await waiting).toBe('ran');
    const answers = (path: string) => desk.gate.check({ tool: 'writer', args: { path } }).decision;
    await expect.poll(() => answers('/tmp/b.txt')).toBe('allow');
    expect(answers('/etc/passwd')).toBe('ask');
    expect(answers('/tmp/../etc/passwd')).toBe('ask');

    await page.goto(`${desk.site.url}/#/grants`);
    await page.getByText('writer where path matches /tmp/*, in this session').waitFor();
    await page.getByRole('button', { name: 'Revoke …' }).first().click();
    expect(await focused(page)).toBe('Revoke it');
    await page.keyboard.press('Escape');
    expect(await focused(page)).toBe('Revoke …');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByText('Revoked the grant of writer.').waitFor();
    await expect.poll(() => answers('/tmp/b.txt')).toBe('ask');
  });

  test('a star that the agent has written is a star, and stands for nothing', async () => {
    const { page, waiting } = await openQuestion('starred', { command: 'cat *', path: 'a\\b?' });
    await page.keyboard.press('a');
    await page.getByLabel('the session').check();
    await page.getByLabel('arguments that match').check();
    expect(await page.getByLabel('command', { exact: true }).inputValue()).toBe('cat \\*');
    expect(await page.getByLabel('path', { exact: true }).inputValue()).toBe('a\\\\b\\?');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    expect(await waiting).toBe('ran');
    const answers = (command: string) =>
      desk.gate.check({ tool: 'starred', args: { command, path: 'a\\b?' } }).decision;
    await expect.poll(() => answers('cat *')).toBe('allow');
    expect(answers('cat /etc/shadow')).toBe('ask');
  });

  test('is not offered where arguments are edited, or none can be matched', async () => {
    const { page } = await openQuestion('unmatched', { path: '/a', api_key: 'k-1' });
    await page.keyboard.press('e');
    await page.getByLabel('always').check();
    expect(await page.getByLabel('arguments that match').isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await page.keyboard.press('a');
    await page.getByLabel('always').check();
    await page.getByLabel('arguments that match').check();
    expect(await page.getByLabel('api_key', { exact: true }).count()).toBe(0);
  });
});

describe('what cannot be seen is shown', () => {
  const HIDDEN = 'safe\u202egnp.exe\u200b\u2066x\u00a0y\u{e0041}\u0007';

  test('in arguments, names and reasons; what runs stays what it was', async () => {
    const name = 'list\u202eer\u200b';
    const { page, waiting, ran } = await openQuestion('hidden', { path: HIDDEN, [name]: 'שלום' });
    const text = (await page.getByLabel('Arguments', { exact: true }).textContent()) ?? '';
    expect(text).toContain('safe\\u202egnp.exe\\u200b\\u2066x\\u00a0y\\udb40\\udc41\\u0007');
    expect(text).toContain('"list\\u202eer\\u200b": "שלום"');
    await page.keyboard.press('e');
    const field = page.getByLabel('Arguments to run instead');
    await field.fill((await field.inputValue()).replace('שלום', 'peace'));
    await page.getByRole('button', { name: 'Approve the edit' }).click();
    expect(await waiting).toBe('ran');
    expect(ran).toEqual([{ path: HIDDEN, [name]: 'peace' }]);
  });

  test('in the name of a tool, everywhere', async () => {
    const tool = 'evil\u202egnp.exe';
    await desk.escalate(tool);
    desk.hold(tool, { n: 1 });
    const page = await desk.open('', 'approver');
    await page.getByText('evil‹U+202E›gnp.exe').first().waitFor();
    await page.goto(`${desk.site.url}/#/approvals/${await desk.idOf(tool)}`);
    await page.getByRole('heading', { name: 'evil‹U+202E›gnp.exe' }).waitFor();
    expect(await page.evaluate<string>('document.body.innerText')).not.toMatch(/[\u200b\u202a-\u202e\u2066-\u2069]/u);
  });
});

describe('what is said of a tool', () => {
  test('is said of a scope where only that is blocked, and a decision is said once', async () => {
    const { page, waiting } = await openQuestion('partly', { path: '/a' });
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    expect(await waiting).toBe('ran');
    const handle = desk.installation.client.workflow.getHandle(keyOf('partly'));
    await handle.executeUpdate('reset', { args: [{ reason: 'fixed' }] });
    await handle.executeUpdate('block', { args: [{ scope: 'host:bad.test', reason: 'breach' }] });
    await page.goto(`${desk.site.url}/#/tools`);
    const listed = page.getByRole('listitem').filter({ hasText: 'partly' });
    await listed.getByText('scope blocked').waitFor();
    await listed.getByText('an operator resets the scope').waitFor();
    await listed.getByRole('link').click();
    await page.getByText('call approved').waitFor();
  });
});

describe('without a mouse', () => {
  test('one walks through, opens, cancels, decides, and is never lost', async () => {
    await desk.installation.pool.query("delete from approval where status = 'pending'");
    await desk.escalate('walk');
    const first = desk.hold('walk', { n: 1 });
    const page = await desk.open('#/approvals', 'approver');
    await row(page, 'walk').first().waitFor();
    const second = desk.hold('walk', { n: 2 });
    await page.getByRole('button', { name: 'open 2' }).waitFor();
    await page.keyboard.press('j');
    await page.getByText('"n": 1').waitFor();
    expect(await focused(page)).toContain('walk');
    const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
    expect(outline).toBe('solid');
    await page.keyboard.press('d');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('INPUT');
    await page.keyboard.press('Escape');
    expect(await focused(page)).toContain('walk');
    // By Tab as well: into the question, to the button, and back to it from the form.
    for (let i = 0; i < 20 && !(await focused(page)).startsWith('Edit …'); i += 1) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
    await page.keyboard.press('Escape');
    expect(await focused(page)).toMatch(/^Edit …/);
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    expect(await first.waiting).toBe('ran');
    // The next one is there, and so is the focus.
    await page.getByText('"n": 2').waitFor();
    await expect.poll(() => focused(page)).toContain('walk');
    await page.keyboard.press('d');
    await page.keyboard.type('no');
    await page.keyboard.press('Enter');
    await expect(second.waiting).rejects.toThrow('denied by alice: no');
    await page.getByText('Nothing waits for you').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement !== document.body')).toBe(true);
  });

  test('news is told once; what counts down tells nobody', async () => {
    const { page } = await openQuestion('counting', { n: 1 });
    await live(page).waitFor();
    await page.keyboard.press('a');
    await page.getByLabel('until a time').check();
    await page.waitForTimeout(2000);
    await page.evaluate(`(() => {
      window.told = [];
      const watch = new MutationObserver((changes) => { for (const { target } of changes) window.told.push(target.textContent); });
      for (const region of document.querySelectorAll('[aria-live], [role=status], [role=alert]'))
        watch.observe(region, { subtree: true, childList: true, characterData: true });
    })()`);
    await page.waitForTimeout(2500);
    expect(await page.evaluate('window.told')).toEqual([]);
    desk.hold('counting', { n: 2 });
    await expect
      .poll(() => page.evaluate<string[]>('window.told'), { timeout: 10_000 })
      .toContainEqual(expect.stringMatching(/A new question: \d+ open/));
  });

  test.each(['light', 'dark'] as const)('axe finds nothing serious in any form, in %s', async (colorScheme) => {
    const tool = `seen-in-${colorScheme}`;
    await desk.escalate(tool);
    desk.hold(tool, { n: 1 });
    const page = await desk.open('#/approvals', 'admin', { colorScheme, reducedMotion: 'reduce' });
    await page.keyboard.press('?');
    await page.getByText('open the first').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await row(page, tool).first().click();
    await page.getByRole('heading', { name: 'What will run' }).waitFor();
    for (const [key, name] of [
      ['a', 'Approve'],
      ['e', 'Approve'],
      ['d', 'Deny'],
    ] as const) {
      await page.keyboard.press(key);
      await page.getByRole('form', { name }).waitFor();
      if (key === 'a') {
        await page.getByLabel('until a time').check();
        await page.getByLabel('arguments that match').check();
      }
      expect([key, await seriousFindings(page)]).toEqual([key, []]);
      await page.keyboard.press('Escape');
    }
    const moving = `[...document.querySelectorAll('*')].filter((one) => {
      const { transitionDuration, animationName } = getComputedStyle(one);
      return transitionDuration !== '0s' || animationName !== 'none';
    }).length`;
    expect(await page.evaluate(moving)).toBe(0);
    await page.goto(`${desk.site.url}/#/tools`);
    await page
      .getByRole('listitem')
      .getByRole('link', { name: /counting/ })
      .click();
    await page.getByRole('button', { name: 'Block …' }).click();
    expect(await page.evaluate('document.activeElement.tagName')).toBe('INPUT');
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await focused(page)).toBe('Block …');
  });
});

describe('when things are not as usual', () => {
  test('a browser whose clock is hours off counts by the server’s', async () => {
    await desk.escalate('skewed');
    desk.hold('skewed', {});
    const { page } = await desk.site.visit('');
    await page.clock.install({ time: Date.now() + 7 * 3_600_000 });
    await page.reload();
    await page.getByLabel('Your token').fill(desk.secrets.get('approver') ?? '');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.goto(`${desk.site.url}/#/approvals`);
    await page.clock.runFor(3000);
    expect(await row(page, 'skewed').textContent()).toMatch(/just now|\d+ s ago/);
  });

  test('signing out that nobody hears leaves one signed in, and says so', async () => {
    const page = await desk.open('', 'approver');
    await page.route('**/v1/session', (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('you are still signed in').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });

  test('the network goes and comes back: the page says so, and a decision made meanwhile is sent once', async () => {
    const { page, waiting } = await openQuestion('offline', {});
    await live(page).waitFor();
    await page.getByRole('button', { name: /^Approve …/ }).click();
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('The server does not answer').first().waitFor();
    await page.getByText(/not live since .*, reconnecting/).waitFor({ timeout: 2000 });
    await page.context().setOffline(false);
    await live(page).waitFor();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    expect(await waiting).toBe('ran');
    expect(await decisionsOf('offline')).toBe(1);
  });

  test('very long names and arguments stay within the page, also at 360 pixels', async () => {
    const long = `very_${'long_'.repeat(30)}name`;
    const { page } = await openQuestion(
      long,
      { text: 'word '.repeat(20_000), list: Array.from({ length: 3000 }, (_, i) => i) },
      { viewport: { width: 360, height: 740 } },
    );
    expect(await scrollsSideways(page)).toBe(false);
    await page.getByRole('button', { name: /^Approve …/ }).click();
    await page.getByLabel('always').check();
    expect(await scrollsSideways(page)).toBe(false);
    await page.goto(`${desk.site.url}/#/tools`);
    await page.getByText(long).first().waitFor();
    expect(await scrollsSideways(page)).toBe(false);
  });
});
