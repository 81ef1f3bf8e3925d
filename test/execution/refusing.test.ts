import { mkdirSync, mkdtempSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refusingPrograms } from '../../src/execution/refusing.ts';
import { runCli } from '../support/run-cli.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'surety-refusing-')));
const [cwd, programs] = ['project', 'programs'].map((name) => join(base, name)) as [string, string];
for (const each of [cwd, programs]) mkdirSync(each);
writeFileSync(join(programs, 'forbidden'), '#!/bin/sh\necho it ran\n', { mode: 0o755 });
writeFileSync(join(cwd, 'script.sh'), 'forbidden\n');

test('without a sandbox a script that calls a blocked program by its name gets one that refuses', async () => {
  const env = { SURETY_HOME: join(base, 'home'), PATH: `${programs}:${process.env['PATH'] ?? ''}` };
  const exec = async (shell: object) => {
    writeFileSync(join(cwd, 'surety.json'), JSON.stringify({ runner: { sandbox: 'off' }, shell }));
    return runCli(['exec', '--', 'sh script.sh'], { cwd, env });
  };
  expect(await exec({})).toMatchObject({ code: 0, stdout: 'it ran\n' });
  const refused = await exec({ blockedCommands: ['forbidden'] });
  expect(refused).toMatchObject({ code: 126, stdout: '' });
  expect(refused.stderr).toContain('surety: forbidden is blocked');
});

test('they stand in for what is there to be found, once for the same names', async () => {
  const home = join(base, 'own');
  const made = await refusingPrograms(home, /forbidden|nowhere/, [programs]);
  expect(readdirSync(made ?? '')).toEqual(['forbidden']);
  expect(await refusingPrograms(home, /forbidden|nowhere/, [made ?? '', programs])).toBe(made);
  expect(await refusingPrograms(home, /nowhere/, [programs])).toBe(undefined);
});
