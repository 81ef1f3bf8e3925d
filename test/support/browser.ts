import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';
import type { Browser } from 'playwright-core';

/** A real Chromium: from npm alone where there is a build of it, otherwise the Chrome of the machine. */
export async function launchBrowser(): Promise<Browser> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return playwright.launch({ channel: 'chrome' });
  // Not the arguments that come with it: they are for one page, in one process, without the security that is tested here.
  return playwright.launch({ executablePath: await chromium.executablePath(), args: ['--no-sandbox'] });
}
