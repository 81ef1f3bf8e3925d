// Takes the pictures in docs/images of Temporal UI, on the stack that `npm start` runs:
// npx tsx scripts/screenshot-ui.ts [workflow id] [suffix]. The tool must be in doubt.
import { mkdir } from 'node:fs/promises';
import { loadConfig } from '../src/config.ts';
import { readStack } from '../src/stack/stack-file.ts';
import { launchBrowser } from '../test/support/browser.ts';

const found = await readStack(loadConfig().home);
if (!found.running || found.stack.uiUrl === undefined) throw new Error('start the stack first: npm start');
const { uiUrl, namespace } = found.stack;
const [tool = 'tool:local/http_request', suffix = ''] = process.argv.slice(2);

const browser = await launchBrowser();
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
await mkdir('docs/images', { recursive: true });

async function picture(name: string, path: string, text: string, tab?: string): Promise<void> {
  await page.goto(`${uiUrl}/namespaces/${namespace}/${path}`, { waitUntil: 'load' });
  await page.getByText(text).first().waitFor();
  if (tab !== undefined) await page.getByText(tab, { exact: true }).first().click();
  await page.waitForTimeout(3000);
  await page.screenshot({ path: `docs/images/${name}.png` });
  console.log(`docs/images/${name}.png`);
}

const escalated = encodeURIComponent('SuretyState="ESCALATED" AND ExecutionStatus="Running"');
if (suffix === '') await picture('temporal-list', `workflows?query=${escalated}`, tool);
await picture(`temporal-tool${suffix}`, `workflows/${encodeURIComponent(tool)}`, tool);
await picture(`temporal-details${suffix}`, `workflows/${encodeURIComponent(tool)}`, tool, 'User Metadata');
await browser.close();
