import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { openExecution } from '../../src/execution/open.ts';

/** What a developer's project holds; the commands of the list are about these. */
const FILES =
  '.env .env.example .git/HEAD .venv/bin/activate README.md a.txt access.log app.db app.zip archive.tar b.txt big.txt build/out/x ' +
  'chart/Chart.yaml config config.json data.csv data.gz data.json data.tsv data.txt dist/main.js docker-compose.yml docs/a.md file.bin ' +
  'file.txt in.txt k8s/web.yaml logs/app.log names.txt node_modules/x/package.json notes.txt old.ts out.txt package.json ' +
  'packages/api/package.json packages/web/package.json paths.txt scripts/run.sh scripts/deploy.sh src/main.ts src/index.ts src/domain/a.ts ' +
  'surety.json templates/app/x test/domain/a.test.ts tsconfig.json users.json';

it('of ordinary commands, in a project and with all its files looked at, hardly any is asked about', async () => {
  const project = join(realpathSync(mkdtempSync(join(tmpdir(), 'surety-ordinary-'))), 'project');
  for (const file of FILES.split(' ')) {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), file === 'surety.json' ? '{"runner":{"sandbox":"off"}}' : '');
  }
  vi.stubEnv('SURETY_HOME', join(project, '.surety'));
  const execution = await openExecution({ project });
  const list = new URL('../fixtures/ordinary-commands.txt', import.meta.url);
  const commands = readFileSync(list, 'utf8').trim().split('\n');
  const stopped: { readonly command: string; readonly verdict: string; readonly because: string }[] = [];
  try {
    for (const command of commands) {
      const { verdict, because } = await execution.preview({ tool: 'shell', args: { command } });
      if (verdict !== 'allow') stopped.push({ command, verdict, because });
    }
  } finally {
    await execution.close();
    vi.unstubAllEnvs();
  }
  const share = ((100 * stopped.length) / commands.length).toFixed(1);
  console.log(
    `${commands.length} ordinary commands in a project: ${stopped.length} (${share} %) do not simply run.\n` +
      stopped.map(({ command, verdict, because }) => `  ${verdict} ${command}: ${because}`).join('\n'),
  );
  // They name what lies outside of the project, and say so plainly.
  const denied = stopped.filter(({ verdict }) => verdict === 'deny').map(({ command }) => command);
  expect(denied).toEqual(['cd .. && pwd', "awk -F: '{print $1, $3}' /etc/passwd"]);
  expect(stopped.length / commands.length).toBeLessThan(0.06);
});
