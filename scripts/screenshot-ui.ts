// Takes the pictures in docs/images of Temporal UI, on the stack that `npm start` runs: npx tsx scripts/screenshot-ui.ts
import { mkdir } from 'node:fs/promises';
import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';
import { loadConfig } from '../src/config.ts';
import { readStack } from '../src/stack/stack-file.ts';

const found = await readStack(loadConfig().home);
if (!found.running || found.stack.uiUrl === undefined) throw new Error('start the stack first: npm start');
const { uiUrl, namespace } = found.stack;
const [tool = 'tool:local/http_request'] = process.argv.slice(2);

const browser = await playwright.launch({ executablePath: await chromium.executablePath(), args: chromium.args, headless: true });
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
await mkdir('docs/images', { recursive: true });

async function picture(name: string, path: string): Promise<void> {
  await page.goto(`${uiUrl}/namespaces/${namespace}/${path}`, { waitUntil: 'load' });
  await page.waitForTimeout(4000);
  await page.screenshot({ path: `docs/images/${name}.png` });
  console.log(`docs/images/${name}.png`);
}

await picture('temporal-list', `workflows?query=${encodeURIComponent('SuretyState="ESCALATED" OR SuretyState="BLOCKED"')}`);
await picture('temporal-tool', `workflows/${encodeURIComponent(tool)}`);
await browser.close();
