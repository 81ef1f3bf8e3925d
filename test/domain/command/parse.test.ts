import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandsOf } from '../../../src/domain/command/parse.ts';
import { hostile } from '../outcome/hostile.ts';

/** Each command as `wrapper > wrapper > program`. */
const run = (command: unknown) =>
  commandsOf(command).commands.map(({ program, wrappers }) => [...wrappers, program].join(' > '));

describe('the programs a command line runs', () => {
  it.each<[unknown, string[]]>([
    ['git status', ['git']],
    ['a | b && c || d; e & f', ['a', 'b', 'c', 'd', 'e', 'f']],
    ['a & sudo x', ['a', 'sudo > x']],
    ['(sudo x)', ['sudo > x']],
    ['{ sudo x; }', ['sudo > x']],
    ['if a; then sudo x; else b; fi', ['a', 'sudo > x', 'b']],
    ['for i in 1 2; do sudo x; done', ['sudo > x']],
    ['f() { sudo x; }; f', ['sudo > x', 'f']],
    ['FOO=1 sudo x', ['sudo > x']],
    ['env -i sudo x', ['env > sudo > x']],
    ['env -u HOME A=1 B=2 x', ['env > x']],
    ["env -S 'x y'", ['env > x']],
    ['nice -n 10 sudo x', ['nice > sudo > x']],
    ['nice -10 x', ['nice > x']],
    ['timeout -k 5 10s sudo x', ['timeout > sudo > x']],
    ['sudo -nu root -- x', ['sudo > x']],
    ['sudo -uroot A=1 x', ['sudo > x']],
    ['sudo --user root x', ['sudo > x']],
    ['sudo -v', ['sudo']],
    ['time -p sudo x', ['sudo > x']],
    ['nohup x &', ['nohup > x']],
    ['find . -name y -exec sudo x {} \\; -exec z {} +', ['find', 'find > sudo > x', 'find > z']],
    ['cat l | xargs -0 -I{} sudo x {}', ['cat', 'xargs > sudo > x']],
    ['xargs', ['xargs']],
    ['command -v git', ['command']],
    ["bash -c 'sudo id; x'", ['bash > sudo > id', 'bash > x']],
    ["sudo bash -lc 'x'", ['sudo > bash > x']],
    ["bash -o pipefail -c 'x'", ['bash > x']],
    ['bash script.sh -c x', ['bash']],
    ['bash -c "bash -c \'x\'"', ['bash > bash > x']],
    ["su root -c 'x y'", ['su > x']],
    ['eval "sudo x"', ['eval > sudo > x']],
    ["bash <<< 'sudo x'", ['bash', 'bash > sudo > x']],
    ['sudo bash <<EOF\nx\nEOF', ['sudo > bash', 'sudo > bash > x']],
    ['cat <<EOF\nsudo x\nEOF', ['cat']],
    ['echo $(sudo x) `y`', ['echo', 'sudo > x', 'y']],
    ['diff <(a) <(b)', ['diff', 'a', 'b']],
    ['X=$(a)', ['a']],
    ['[[ -f $(a) ]] && b', ['a', 'b']],
    ["$'sudo' x", ['sudo > x']],
    ['"su"\'do\' x', ['sudo > x']],
    ['s\\udo x', ['sudo > x']],
    ['{sudo,id}', ['sudo > id']],
    ['${X:-sudo} id', ['sudo > id']],
    ['sudo${IFS}id', ['sudo > id']],
    ['/usr/bin/git x', ['git']],
    ['2>/dev/null sudo x', ['sudo > x']],
    ["echo 'a; sudo b'", ['echo']],
    ['terraform plan', ['terraform']],
    ['git status # sudo x', ['git']],
    [['git', 'x'], ['git']],
    [['sudo', 'rm', '-rf', '/'], ['sudo > rm']],
    [
      ['bash', '-c', 'a | b'],
      ['bash > a', 'bash > b'],
    ],
    [['echo', 'a; sudo b'], ['echo']],
    [['git status'], ['git']],
    [['C:\\Git\\bin\\git.exe', 'x'], ['git']],
    ['', []],
  ])('%j', (command, expected) => {
    expect(run(command)).toEqual(expected);
    expect(commandsOf(command).complete).toBe(true);
  });

  it('come with their arguments, unquoted', () => {
    expect(commandsOf(`rm -rf "a b" 'c'd /{e,f} $HOME`).commands[0]?.args).toEqual([
      '-rf',
      'a b',
      'cd',
      '/e',
      '/f',
      '$HOME',
    ]);
  });

  it('are not literal where only the running shell knows them', () => {
    for (const command of ['$TOOL x', '$(printf sudo) id', '"$(which git)" x']) {
      expect(commandsOf(command).commands[0]).toMatchObject({ literal: false });
    }
  });

  it('the files it writes to are known as well', () => {
    expect(commandsOf('a > /dev/sda 2>> log < in').writes).toEqual(['/dev/sda', 'log']);
  });
});

describe('what cannot be read', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a number', 7],
    ['an object', {}],
    ['an empty array', []],
    ['an array with other things in it', ['git', {}]],
    ['an unfinished line', 'git status &&'],
    ['a line too long', `git ${'x '.repeat(10_000)}`],
    ['brackets too deep', '$('.repeat(100)],
    ['brackets too deep, though closed', `${'('.repeat(40)}x${')'.repeat(40)}`],
    ['scripts too deep', Array.from({ length: 20 }).reduce<string>((inner) => `eval ${inner}`, 'x')],
  ])('%s is marked', (_, command) => {
    expect(commandsOf(command).complete).toBe(false);
  });

  it('still gives what could be', () => {
    expect(run('git status &&')).toEqual(['git']);
    expect(run(`git ${'x '.repeat(10_000)}`)).toEqual(['git']);
  });

  it('anything can be asked, and the answer is small', () => {
    const shellish = fc
      .array(
        fc.constantFrom(
          'sudo ',
          'bash -c ',
          "'",
          '"',
          '$(',
          ')',
          '{',
          '}',
          '|',
          ';',
          '&',
          '<<A\n',
          '`',
          '\\',
          'x ',
          '${a:-',
          '\n',
          'if ',
          '((',
        ),
        { maxLength: 200 },
      )
      .map((parts) => () => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(hostile, shellish), (command) => {
        const parsed = commandsOf(command());
        expect(parsed.commands.length).toBeLessThanOrEqual(1000);
        expect(commandsOf(command())).toEqual(parsed);
      }),
      { numRuns: 500 },
    );
  });
});
