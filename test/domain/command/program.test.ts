import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandIn, runsCommands } from '../../../src/domain/command/argument.ts';
import { programOf } from '../../../src/domain/command/program.ts';
import { hostile } from '../outcome/hostile.ts';

describe('the program a command line is about', () => {
  it.each<[unknown, string | undefined]>([
    ['git status', 'git'],
    ['sudo git status', 'git'],
    ['FOO=1 git', 'git'],
    ['/usr/bin/git x', 'git'],
    ['env -i git', 'git'],
    ['timeout 5 curl x', 'curl'],
    [['git', 'x'], 'git'],
    ['Git x', 'Git'],
    ['cd /srv && git pull', 'git'],
    ['set -e; export A=1; source venv/bin/activate && python x.py', 'python'],
    ['cd /srv', 'cd'],
    ["bash -lc 'cd /x && npm test'", 'npm'],
    ['bash deploy.sh', 'bash'],
    ['./deploy.sh', 'deploy.sh'],
    ['X=$(curl a)', 'curl'],
    ['cat a | grep b', 'cat'],
    ['$TOOL x | grep b', undefined],
    ['', undefined],
    ['   ', undefined],
    [null, undefined],
    [[], undefined],
  ])('%j', (command, expected) => {
    expect(programOf(command)).toBe(expected);
  });

  it('anything can be asked', () => {
    fc.assert(
      fc.property(hostile, (command) => {
        expect(programOf(command())).not.toBe('');
      }),
    );
  });
});

describe('the command among the arguments', () => {
  it.each<[string, unknown, unknown]>([
    ['bash', { command: 'a b' }, 'a b'],
    ['run', { cmd: ['a', 'b'] }, ['a', 'b']],
    ['run', { command: 'a', args: ['b', 'c'] }, ['a', 'b', 'c']],
    ['run', { command: 'a b', args: ['c'] }, 'a b'],
    ['bash', { script: 'a b' }, 'a b'],
    ['python', { script: 'a b' }, undefined],
    ['bash', 'a b', 'a b'],
    ['fetch', 'a b', undefined],
    ['bash', { command: 7 }, undefined],
    ['bash', null, undefined],
  ])('of %s %j', (tool, args, expected) => {
    expect(commandIn(tool, args)).toEqual(expected);
  });

  it('is executed by tools whose names say so', () => {
    for (const tool of [
      'bash',
      'Bash',
      'run_command',
      'executeCommand',
      'local_shell',
      'terminal.exec',
      'desktop/cmd',
    ]) {
      expect(runsCommands(tool)).toBe(true);
    }
    for (const tool of ['explain_command', 'ask_approval', 'search', 'shellfish', 'lintScript', '']) {
      expect(runsCommands(tool)).toBe(false);
    }
  });
});
