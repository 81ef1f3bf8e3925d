import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { bundleWorkflowCode, DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

interface Edit {
  readonly find: string;
  readonly replace: string;
}
interface Mutation extends Edit {
  readonly file: string;
  readonly then: Edit;
}

const HISTORIES = resolve('test/replay/histories');
const names = readdirSync(HISTORIES);
// Inside the project, so that packages are found from it.
const MUTANT = resolve('.surety', `mutant-${process.pid}`);
const payloadConverterPath = resolve('dist/workflows/total-converter.js');

beforeAll(() => {
  const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { forward: {}, filter } } });
});
afterAll(() => rmSync(MUTANT, { recursive: true, force: true }));

async function replay(name: string, bundle: { code: string } | { codePath: string }): Promise<Error | undefined> {
  const history = historyFromJSON(JSON.parse(readFileSync(join(HISTORIES, name), 'utf8')));
  const replayed = Worker.runReplayHistories({ workflowBundle: bundle, dataConverter: { payloadConverterPath } }, [
    { workflowId: 'recorded', history },
  ]);
  for await (const { error } of replayed) return error;
  throw new Error('nothing was replayed');
}

test('the histories cross every state and continue-as-new', () => {
  const all = names.map((name) => readFileSync(join(HISTORIES, name), 'utf8')).join('\n');
  for (const sign of ['WORKFLOW_EXECUTION_CONTINUED_AS_NEW', 'TIMER_FIRED', 'TIMER_CANCELED', 'UPDATE_COMPLETED']) {
    expect(all).toContain(sign);
  }
  expect(names.length).toBeGreaterThanOrEqual(4);
});

describe('today’s workflow replays', () => {
  test.each(names)('%s', async (name) => {
    expect(await replay(name, { codePath: resolve('dist/workflow-bundle.js') })).toBeUndefined();
  });
});

describe('a workflow that gives its commands in another order does not', () => {
  let bundle: { code: string };

  beforeAll(async () => {
    mkdirSync(MUTANT, { recursive: true });
    for (const folder of ['workflows', 'src/domain', 'src/temporal', 'src/postgres', 'activities']) {
      cpSync(folder, join(MUTANT, folder), { recursive: true });
    }
    for (const name of readdirSync('test/replay/mutations')) {
      const mutation = JSON.parse(readFileSync(join('test/replay/mutations', name), 'utf8')) as Mutation;
      const file = join(MUTANT, mutation.file);
      writeFileSync(file, [mutation, mutation.then].reduce(applied, readFileSync(file, 'utf8')));
    }
    bundle = await bundleWorkflowCode({
      workflowsPath: join(MUTANT, 'workflows/index.ts'),
      payloadConverterPath,
      logger: new DefaultLogger('ERROR'),
    });
  });

  test.each(names)('%s', async (name) => {
    expect(await replay(name, bundle)).toBeInstanceOf(DeterminismViolationError);
  });
});

function applied(text: string, { find, replace }: Edit): string {
  expect(text.split(find), `the mutation no longer fits: ${find}`).toHaveLength(2);
  return text.replace(find, replace);
}
