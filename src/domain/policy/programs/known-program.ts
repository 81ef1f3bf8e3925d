import { wrappedBy } from '../../command/wrappers.ts';
import { Recent } from '../../recent.ts';
import { builtin, type Builtin } from './builtins.ts';
import { interpreterOf } from './interpreters.ts';
import type { Program } from './program.ts';
import { PROGRAMS } from './programs.ts';
import { isRunner } from './runners.ts';
import { isCompiler, isEditor, runningOptionsOf, type RunningOptions } from './running-options.ts';
import { isShell } from './shells.ts';

/** All that the name of a program tells of it. */
export interface KnownProgram {
  readonly builtin: Builtin | undefined;
  readonly isShell: boolean;
  /** The interpreter that it is, whatever its version. */
  readonly language: string | undefined;
  readonly isAwk: boolean;
  readonly isSed: boolean;
  readonly isLoader: boolean;
  readonly isCompiler: boolean;
  /** What it reads from its input are keys that are pressed. */
  readonly isEditor: boolean;
  /** How it runs others by its operands, and by its options. */
  readonly special: Program | undefined;
  readonly options: RunningOptions | undefined;
  readonly isWrapper: boolean;
  readonly isRunner: boolean;
  /** Its arguments are but words to it, so that the name of another program among them means nothing. */
  readonly takesWords: boolean;
  /** It may run what stands inside of its arguments: all but those of which we know better. */
  readonly mayRunArguments: boolean;
  /** Nobody here knows what it does with its arguments. */
  readonly isStranger: boolean;
}

/** They take words as words: `grep sudo`, `man curl`, `apt install wget`. What surety runs is judged by `own-commands.ts`. */
const TAKES_WORDS: ReadonlySet<string> = new Set(
  (
    'echo printf cat tac grep egrep fgrep zgrep rg ag ack ls ll cd pushd git gh glab hub man info which whereis type ' +
    'whatis apropos last apt apt-get apt-cache aptitude dpkg brew dnf yum rpm apk pacman snap pip pip3 pipx gem cargo go ' +
    'rustup npm yarn pnpm composer test [ export declare local readonly typeset unset set head tail wc sort uniq diff ' +
    'comm cut tr paste column mkdir rmdir rm chmod chown chgrp touch basename dirname realpath readlink stat file tree du df kill pkill ' +
    'pgrep killall ps top jq yq sed awk gawk mawk nawk find ln cp mv install command hash id groups getent date expr seq ' +
    'true false : read exit return test tee sha256sum md5sum cksum tldr code open xdg-open systemctl journalctl ' +
    'surety'
  ).split(' '),
);
/** They say or look for what they are given, or hand it on as a command that is read by itself. */
export const SPEAKS: ReadonlySet<string> = new Set(
  (
    'pytest jest vitest mocha rspec playwright cypress ava ctest phpunit dotnet bats cucumber behave logger notify-send say wall ' +
    'rev tac od hexdump hd xxd base64 base32 fold nl fmt pr expand unexpand sha1sum sha224sum sha384sum sha512sum shasum b2sum sum numfmt factor strings ' +
    'gzip gunzip zcat bzip2 bunzip2 xz unxz zstd pigz figlet cowsay zenity whiptail espeak redis-cli codespell ssh autossh scp sftp watch flock parallel'
  ).split(' '),
);

const MOST_REMEMBERED = 1000;
const remembered = new Recent<string, KnownProgram>(MOST_REMEMBERED);

/** Remembered: there are a dozen lists and patterns to look it up in, and command lines use the same few programs. */
export function knownProgram(name: string): KnownProgram {
  const known = remembered.get(name);
  if (known !== undefined) return known;
  const found = lookedUp(name);
  remembered.set(name, found);
  return found;
}

function lookedUp(name: string): KnownProgram {
  const own = builtin(name);
  const language = interpreterOf(name);
  const special = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
  const options = runningOptionsOf(name);
  const isWrapper = wrappedBy(name, []) !== undefined;
  const takesWords = TAKES_WORDS.has(name) || isShell(name) || language !== undefined;
  const isUnheard = !takesWords && own === undefined && !isWrapper;
  return {
    builtin: own,
    isShell: isShell(name),
    language,
    isAwk: /^(?:[gmn]|original-|go)?awk$/.test(name),
    isSed: /^[gs]?sed$/.test(name),
    isLoader: /^ld[-.].*so/.test(name),
    isCompiler: isCompiler(name),
    isEditor: isEditor(name),
    special,
    options,
    isWrapper,
    isRunner: isRunner(name),
    takesWords,
    mayRunArguments: isUnheard && !SPEAKS.has(name),
    isStranger: isUnheard && special === undefined && options === undefined,
  };
}
