import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { serveHttp } from '../../src/http/serve.ts';
import { createToken } from '../../src/postgres/tokens.ts';
import type { Role } from '../../src/postgres/tokens.ts';
import type { Gate } from '../../src/gate/index.ts';
import { launchBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { createInstallation } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { escalateTool } from '../workflow/support.ts';

/** What a browser says by itself of an answer that is no success; whether that was expected, the test says. */
const OF_ANSWERS = /Failed to load resource|net::ERR_|blocked by CORS policy/;

export interface Visit {
  readonly page: Page;
  /** What the browser complained of: violations of the policy, errors of scripts. */
  readonly complaints: readonly string[];
}

/** The console of an installation, which can be taken down and brought back. */
export async function serveConsole({ databaseUrl, pool }: Installation, browser: Browser) {
  const port = await freePort();
  const offer = () =>
    serveHttp({ databaseUrl, host: '127.0.0.1', port, temporalUi: { url: 'http://127.0.0.1:9', namespace: 'n' } });
  let api = await offer();
  return {
    url: api.url,
    stop: () => api.close(),
    restart: async () => {
      api = await offer();
    },
    token: async (name: string, roles: readonly Role[]) =>
      createToken(pool, { name, owner: name, roles, createdBy: 't' }),
    /** Opens the page as somebody new. Whatever the browser complains of fails the test. */
    visit: async (hash = '', options: BrowserContextOptions = {}): Promise<Visit> => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' && !OF_ANSWERS.test(message.text())) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('dialog', (dialog) => {
        complaints.push(`a dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      onTestFinished(async () => {
        await context.close();
        expect(complaints).toEqual([]);
      });
      await page.goto(`${api.url}/${hash}`);
      return { page, complaints };
    },
  };
}

const PEOPLE = { approver: 'alice', operator: 'otto', admin: 'root' } as const;

/** An installation with a worker, an agent that is held, a browser, and people who decide. */
export async function startConsole() {
  const [installation, browser] = await Promise.all([createInstallation(), launchBrowser()]);
  await installation.startWorker();
  const gate: Gate = await installation.connect({ agent: 'bot', session: 'night' });
  const site = await serveConsole(installation, browser);
  const secrets = new Map<string, string>();
  for (const role of ['approver', 'operator', 'admin'] as const) {
    secrets.set(role, (await site.token(PEOPLE[role], [role])).secret);
  }
  return {
    ...{ installation, gate, site, secrets },
    close: async () => {
      await browser.close();
      await site.stop();
      await installation.close();
    },
    escalate: (tool: string) => escalateTool(installation, gate, tool),
    /** A real call of an agent that waits for a person. */
    hold: (tool: string, args: unknown): { readonly ran: unknown[]; readonly waiting: Promise<unknown> } => {
      const ran: unknown[] = [];
      const waiting = gate.guard(tool, (given: unknown) => {
        ran.push(given);
        return 'ran';
      })(args);
      waiting.catch(() => undefined);
      return { ran, waiting };
    },
    open: async (hash: string, as: keyof typeof PEOPLE, options: BrowserContextOptions = {}): Promise<Page> => {
      const { page } = await site.visit(hash, options);
      await signIn(page, secrets.get(as) ?? '');
      return page;
    },
    idOf: async (tool: string): Promise<string> => {
      const found = await installation.pool.query<{ id: string }>('select id from approval where tool = $1', [tool]);
      return found.rows[0]?.id ?? '';
    },
  };
}

export const row = (page: Page, name: string) =>
  page.getByRole('listitem').getByRole('link', { name: new RegExp(name) });
export const live = (page: Page) => page.locator('.live:not(.not)');

export async function signIn(page: Page, secret: string): Promise<void> {
  await page.getByLabel('Your token').fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** What axe-core finds that is serious. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // By the debugger, which the page's policy does not bind.
  await page.evaluate(axe.source);
  return page.evaluate<string[]>(
    `axe.run(document).then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
       .map(({ id, nodes }) => id + ': ' + nodes.map(({ html, any }) => html + ' ' + (any[0]?.message ?? '')).join(' | ')))`,
  );
}

export function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}

/** Somebody else's page, on another port of this machine: to a browser the same site, another origin. */
export async function serveElsewhere(html: string): Promise<string> {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
