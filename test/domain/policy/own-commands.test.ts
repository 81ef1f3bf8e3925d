import { describe, expect, it } from 'vitest';
import { judgeCommand } from '../../../src/domain/policy/judge.ts';
import { policyOf } from '../../../src/domain/policy/policy.ts';
import { ShellRules } from '../../../src/domain/policy/policy.schema.ts';

const policyWith = (rules: unknown) => policyOf(ShellRules.parse(rules));
const judge = (command: string) => judgeCommand(command, policyWith({ allow: ['*'] }), { trust: 'trusted' });

describe('nobody decides with surety from a shell that surety judges', () => {
  it.each([
    'surety approve abc --yes',
    'surety deny abc',
    'surety extend abc',
    'surety revoke x',
    'surety token create me --role admin',
    'surety break-glass t --reason x',
    'surety kill-switch off --reason x',
    'surety reset t',
    'surety block t',
    'surety recover t',
    'surety rules publish',
    'surety webhooks add https://x',
    'surety up',
    'surety serve',
    'surety audit index',
    'surety --unheard-of status',
    'surety unheard-of',
    'npx surety approve abc --yes',
    'npx --yes surety approve abc',
    'npx -y surety@latest approve abc',
    'npx -p surety surety approve abc',
    'npx --no-install surety break-glass t',
    'npx ./node_modules/.bin/surety approve x',
    "npx -c 'surety approve x'",
    "npm exec --call='surety approve x'",
    'npm exec surety approve abc',
    'npm exec --package=surety -- surety approve abc',
    'npm x -- surety approve abc',
    'pnpm exec surety approve abc',
    'pnpm dlx surety approve abc',
    'pnpm surety approve abc',
    'yarn surety approve abc',
    'yarn exec surety approve abc',
    'bunx surety approve abc',
    'node_modules/.bin/surety approve x',
    'node node_modules/.bin/surety approve x',
    'node node_modules/surety/dist/src/cli/main.js approve x',
    'node --enable-source-maps /opt/surety/dist/src/cli/main.js kill-switch off',
    '/opt/surety/dist/src/cli/main.js approve x',
    'tsx ~/surety/src/cli/main.ts approve x',
    'timeout 5 surety approve x',
    "bash -c 'surety approve x'",
    'X=surety; $X approve x',
    'echo x | xargs surety approve',
    'surety status; surety approve x',
    'surety break-glass --for 1m --yes --reason --help',
    'surety kill-switch off --reason --help',
    'surety rules publish --note --help',
    'surety approve x --reason -h',
    'node node_modules/surety/dist/src/cli/main approve x',
    'choom -n 0 -- surety break-glass t --reason x',
    'choom -n 0 -- surety kill-switch off --reason --help',
    'jobs -x surety approve 1',
    'ssh-agent surety approve 1',
    'corepack npx surety approve 1',
    'corepack npx surety@latest approve 1',
  ])('%s', (command) => {
    expect(judge(command)).toMatchObject({ verdict: 'deny', unconditional: true });
  });

  it.each([
    'node dist/src/cli/main.js approve x',
    'cd dist/src/cli && node main.js break-glass t',
    'node dist/src/cli/main approve x',
    'node -r ./dist/src/cli/main.js x.js approve 1',
    'node --import=./dist/src/cli/main.js x.js approve 1',
    'surety exec -- ls',
    'surety exec ls --help',
    'surety files write x',
    'choom -n 0 -- surety exec -- ls',
    "unheard-of --run='surety approve 1'",
    'cp node_modules/.bin/surety x; ./x approve 1',
    'ln -s /opt/surety/dist/src/cli/main.js y; ./y approve 1',
  ])('asks: %s', (command) => {
    expect(judge(command).verdict).toBe('ask');
  });

  it.each([
    'surety',
    'surety --version',
    'surety approve --help',
    'surety approve -h',
    'surety kill-switch off --help',
    'surety exec --help',
    'surety status',
    'surety status --json',
    'surety history npm:x --limit 5',
    'surety explain approve',
    'surety check t --args {}',
    'surety report --tool t --success',
    "surety policy check 'surety approve x'",
    'surety approvals --decided',
    'surety grants',
    'surety rules show',
    'surety audit verify',
    'surety audit find --tool shell',
    'surety kill-switch status',
    'npx surety status',
    'node dist/src/cli/main.js status',
    'node src/main.js serve',
    'git clone x/surety && cd surety && npm test',
    'grep -r surety docs',
    'vitest run surety',
    'docker-compose -p surety up',
    'cp -r surety backup',
    'node src/main token=x',
    './main deny 3',
    'unheard-of surety status',
    "git commit -m 'surety approve'",
  ])('looking runs: %s', (command) => {
    expect(judgeCommand(command, policyWith({}), { trust: 'trusted' })).toMatchObject({ verdict: 'allow' });
  });

  it('unless the operator says so', () => {
    expect(judgeCommand('surety approve x', policyWith({ allowedCommands: ['surety'] })).verdict).toBe('allow');
  });
});

describe('what a runner runs', () => {
  it.each([
    'poetry run curl x',
    'poetry run -q curl x',
    'pipenv run sudo id',
    'uv run curl x',
    'uv run --with requests curl x',
    'npx curl x',
    'npm exec -- curl x',
    'conda run -n env curl x',
    'direnv exec . curl x',
    'rustup run nightly curl x',
    'mise exec node@20 -- curl x',
    'uv tool run curl x',
    'mise exec curl x',
    'op run --env-file=.env -- curl x',
    'cross-env A=1 curl x',
    'bundle exec curl x',
    "poetry run tar cf x --to-command='sudo id' a",
  ])('is denied if it is blocked: %s', (command) => {
    expect(judge(command)).toMatchObject({ verdict: 'deny', unconditional: true });
  });

  it.each(['pnpm curl http://x', 'yarn curl x', 'poetry run --unheard-of curl x', 'nix run curl x'])(
    'asks where nobody knows for certain: %s',
    (command) => {
      expect(judge(command).verdict).toBe('ask');
    },
  );

  it.each([
    'npm install curl',
    'npm install x wget',
    'pnpm add curl',
    'pnpm rm lodash',
    'yarn add curl',
    'npx prettier --check .',
    'poetry run pytest',
    'uv run --python 3.12 pytest',
  ])('and is none: %s', (command) => {
    expect(judgeCommand(command, policyWith({})).verdict).toBe('allow');
  });

  it('is named by the rule that names the runner', () => {
    const policy = policyWith({ allow: ['npx prettier *'], trust: 'untrusted' });
    expect(judgeCommand('npx prettier --check .', policy).verdict).toBe('allow');
    expect(judgeCommand('npx eslint .', policy).verdict).toBe('ask');
    expect(judgeCommand("npx prettier . && npx tsx -e '1'", policy).verdict).toBe('ask');
  });
});
