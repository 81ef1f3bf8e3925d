import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scrubEnvironment } from '../../src/domain/execution/environment.ts';
import { bashLine } from '../../src/execution/shell/bash.ts';

/** What somebody's environment may hold that would change what commands mean, if the runner let it through. */
const HOSTILE = { SHELLOPTS: 'noexec', BASHOPTS: 'expand_aliases', IFS: 'e', ENV: '/dev/stdin', POSIXLY_CORRECT: '1' };
/** What a command needs to be as nasty as it can be; everything else is a shim or not there. */
const REAL =
  'bash sh env nice timeout nohup stdbuf setsid xargs find cat tee tr rev base64 ln ls date id awk sed perl mkdir rm sleep kill git make tar sort split grep uname printf flock setarch unshare openssl patch strace sqlite3 gcc cc python3 node npm choom logsave ionice'.split(
    ' ',
  );

/** Not every machine has these; what runs them is judged all the same. */
const SOMETIMES =
  'git make perl rev flock setarch unshare openssl patch strace sqlite3 gcc cc python3 node npm choom logsave ionice'.split(
    ' ',
  );

/** So many processes are plenty for what is run here; a fork bomb that slipped through has them within a moment. */
const MOST_PROCESSES = 400;
/** When the first process in it ends, or is killed, the system ends every other one, however far it has got away. */
const NAMESPACE = ['/usr/bin/unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'];
/** The system counts nobody's processes if they are root's. */
const NOBODY = 65_534;
const AS_NOBODY = ['/usr/bin/setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];

/** What a batch is run in. Where the machine has no such thing a line that floods it floods it, and that is said. */
function confinementHere(): readonly string[] {
  const isRoot = process.getuid?.() === 0;
  const confined = [...(isRoot ? AS_NOBODY : []), ...NAMESPACE];
  const [program, ...args] = [...confined, 'true'];
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status === 0) return confined;
  console.warn(`Generated commands run without a pid namespace here: ${error?.message ?? stderr.trim()}`);
  return [];
}

/** A scratch directory in which nothing can be run but what is linked there, and blocked programs only leave a note. */
export class Scene {
  readonly root = mkdtempSync(join(tmpdir(), 'surety-policy-'));
  private readonly bin = join(this.root, 'bin');
  private readonly seen = join(this.root, 'seen');
  private readonly bash: string;
  readonly confinement = confinementHere();

  constructor(blocked: readonly string[], harmless: readonly string[]) {
    mkdirSync(this.bin);
    for (const program of REAL) {
      const found = spawnSync('/bin/sh', ['-c', `PATH=/usr/bin:/bin:$PATH; command -v ${program}`], {
        encoding: 'utf8',
      }).stdout.trim();
      if (found !== '') symlinkSync(found, join(this.bin, program));
      else if (!SOMETIMES.includes(program)) throw new Error(`${program} is needed here`);
    }
    this.bash = join(this.bin, 'bash');
    writeFileSync(this.seen, '');
    for (const each of [this.root, this.seen]) this.give(each);
    for (const name of blocked) this.shim(name, `echo "${name} $PWD" >> ${this.seen}`);
    for (const name of harmless) if (!existsSync(join(this.bin, name))) this.shim(name, ':');
  }

  /** To whoever runs the commands. */
  private give(path: string): void {
    if (this.confinement[0] === AS_NOBODY[0]) chownSync(path, NOBODY, NOBODY);
  }

  private shim(name: string, does: string): void {
    const file = join(this.bin, name);
    writeFileSync(file, `#!/bin/sh\n${does}\nexit 0\n`);
    chmodSync(file, 0o755);
  }

  /** Runs every command in a shell and a directory of its own, all from one bash; the directory tells who ran a shim. What is left in the background has half a second. */
  run(commands: ReadonlyMap<number, string>, mostSeconds = 10): void {
    const script = [...commands].map(([turn, command]) => {
      const [work, file] = [join(this.root, `work-${turn}`), join(this.root, `turn-${turn}`)];
      mkdirSync(work);
      this.give(work);
      writeFileSync(file, command);
      const line = bashLine(this.bash, '').slice(0, -1).join(' ');
      // Read from a file: nothing in the command can disturb the others.
      return `( cd ${work} && exec timeout -s KILL ${mostSeconds} ${line} "$(<${file})" ) </dev/null >/dev/null 2>&1`;
    });
    const [program, ...args] = [...this.confinement, this.bash, '--norc', '--noprofile'];
    const ran = spawnSync(program, args, {
      input: `ulimit -u ${MOST_PROCESSES}\n${script.join('\n')}\nwait\nsleep 0.5\n`,
      cwd: this.root,
      env: scrubEnvironment({ ...HOSTILE, PATH: this.bin, SHIMS: this.bin, HOME: this.root, LC_ALL: 'C' }),
      timeout: 200_000,
    });
    if (ran.error !== undefined) throw ran.error;
  }

  /** Which commands ran a blocked program, and which one. */
  whatRan(): ReadonlyMap<number, string> {
    const notes = readFileSync(this.seen, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    return new Map(
      notes.map((note): [number, string] => {
        const [, program, turn] = /^(\w+) .*work-(\d+)/.exec(note) ?? [];
        if (program === undefined) throw new Error(`a shim ran where no command was run: ${note}`);
        return [Number(turn), program];
      }),
    );
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
