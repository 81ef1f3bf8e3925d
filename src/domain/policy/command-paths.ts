import type { Field } from '../command/expand.ts';
import { isMachine } from '../command/pillars.ts';
import { programName } from '../command/wrappers.ts';
import { linksOf } from './links.ts';
import { namedPath, pathsOf, type CommandPath, type Named } from './paths.ts';
import type { Site } from './reading.ts';
import { LOST, Whereabouts, type Starts } from './whereabouts.ts';

const STREAMS = /^\/dev\/(?:null|stdin|stdout|stderr|tty|zero|u?random|fd\/\d+)$/;
const MOST_PATHS = 2000;
/** Of the places where a name is noted: one that is not among the file's own is enough. */
const MOST_PLACES = 8;

interface Noted extends CommandPath {
  readonly certain: boolean;
  /** Part of what makes a link: the link itself is no use of it. */
  readonly isLinking: boolean;
  /** Whether what it holds may be as the command line wants it. */
  readonly isMade: boolean;
}

/** A file that is run, and which of the names noted are its own: what runs it does not write it. */
export interface RunFile {
  readonly path: string;
  readonly own: readonly [from: number, to: number];
}

/** They leave what a file holds as it is, or take the file away. */
const KEEPS_CONTENT: ReadonlySet<string> = new Set('chmod chown chgrp touch mkdir rmdir rm unlink'.split(' '));
/** What they write they make of what the project holds, or keep its meaning; their arguments name it and no more. */
const BUILDS: ReadonlySet<string> = new Set(
  (
    'make gmake ninja cmake npm pnpm yarn bun cargo go just rake gradle mvn docker kubectl tsc eslint prettier biome black ruff isort ' +
    'mypy pytest jest vitest shellcheck shfmt gofmt rustfmt git'
  ).split(' '),
);

/** The files that a command line names, and where it is when it names them. */
export class CommandPaths {
  readonly where = new Whereabouts();
  private readonly noted: Noted[] = [];
  /** Ranges of `noted` that belong to functions. */
  private readonly callable: [from: number, to: number][] = [];
  private readonly links = new Set<string>();
  private isFull = false;
  private isScattered = false;

  get count(): number {
    return this.noted.length;
  }

  add(
    { path, intent, certain }: Named,
    { start, end }: Site,
    starts: Starts = this.where.here,
    isLinking = false,
    isMade = true,
  ): void {
    if (path.startsWith('/dev/') && STREAMS.test(path)) return;
    if (this.noted.length >= MOST_PATHS && !(intent === 'write' && isMachine(path))) {
      this.isFull = true;
      return;
    }
    const { path: name, known } = namedPath(path);
    this.noted.push({ path: name, known, intent, start, end, starts, certain, isLinking, isMade });
  }

  addRead(path: string, site: Site): void {
    this.add({ path, intent: 'read', certain: true }, site);
  }

  /** The files among a program's arguments. */
  addAll(program: string, args: readonly Field[], site: Site): void {
    if (program === 'ln') {
      const { names, paths } = linksOf(args);
      for (const name of names) this.links.add(name);
      for (const each of paths) this.add(each, site, this.where.here, true);
      return;
    }
    if (scatters(program, args)) this.isScattered = true;
    const { here } = this.where;
    const isKept = KEEPS_CONTENT.has(program);
    const isBuilt = BUILDS.has(program);
    for (const each of pathsOf(program, args)) {
      this.add(
        each,
        site,
        each.below === undefined
          ? here
          : here.map((start) => ({ ...start, directory: under(start.directory, each.below) })),
        false,
        !isKept && (each.certain || !isBuilt),
      );
    }
  }

  /** `cd` and its like. */
  change(program: string, args: readonly Field[], isBare: boolean, site: Site): void {
    const operands = args.filter(({ text }) => !/^-[LPe@]*$/.test(text) || text === '-');
    const [to] = operands;
    if (
      program === 'popd' ||
      to?.text === '-' ||
      (program === 'pushd' && (to === undefined || /^[-+]/.test(to.text)))
    ) {
      this.where.goBack();
      return;
    }
    if (to === undefined) this.addRead('~', site);
    const { path, known } = namedPath(to?.text ?? '~');
    const isPlain = isBare && operands.length <= 1 && to?.many !== true && !path.startsWith('-');
    this.where.change(known ? path : undefined, isPlain);
  }

  repeated(step: () => void): void {
    const from = this.noted.length;
    if (!this.where.repeated(step)) this.forEachSince(from, (each) => ({ ...each, starts: LOST }));
  }

  called(step: () => void): void {
    const from = this.noted.length;
    this.where.called(step);
    this.callable.push([from, this.noted.length]);
  }

  /** What the line names for certain, and what may be a name. */
  finish(): { readonly paths: readonly CommandPath[]; readonly guesses: readonly CommandPath[] } {
    const { anywhere } = this.where;
    for (const [from, to] of this.callable)
      this.forEachSince(from, (each) => (each.starts === LOST ? each : { ...each, starts: anywhere }), to);
    if (this.where.directories.length > 0) this.distrust();
    if (this.links.size > 0) this.forEachSince(0, (each) => (this.usesLink(each) ? { ...each, known: false } : each));
    const full: CommandPath = { path: '…', intent: 'write', known: false, start: 0, end: 1, starts: LOST };
    const plain = (certain: boolean) => this.noted.filter((each) => each.certain === certain).map(bare);
    return { paths: this.isFull ? [...plain(true), full] : plain(true), guesses: plain(false) };
  }

  /** A file that the same command line writes may hold anything by the time it is run. */
  writtenAmong<T extends RunFile>(files: readonly T[]): readonly T[] {
    if (files.length === 0 || this.isScattered) return files;
    const written = new Map<string, number[]>();
    let isAny = false;
    for (const [at, { path, intent, certain, isMade }] of this.noted.entries()) {
      if (intent !== 'write' || !isMade) continue;
      const name = programName(path);
      // What a glob matches is there already, and a guess at it says little.
      isAny ||= (certain ? /[…*?[]/ : /…/).test(name);
      written.set(name, [...(written.get(name) ?? []).slice(-MOST_PLACES), at]);
    }
    return files.filter(({ path, own: [from, to] }) => {
      const places = written.get(programName(path)) ?? [];
      return isAny || places.some((at) => at < from || at >= to || this.noted[at]?.certain === true);
    });
  }

  /** A directory that the same line may take away, or close, is perhaps not entered although it is there now. */
  private distrust(): void {
    const changed = this.noted.filter(({ intent }) => intent === 'write').map(({ path }) => programName(path));
    const names = new Set(changed);
    const isAny = changed.some((name) => /[…*?[]/.test(name));
    const keeps = (directory: string) => !isAny && !names.has(programName(directory));
    this.forEachSince(0, (each) =>
      each.starts.every(({ unless }) => unless.every(keeps))
        ? each
        : {
            ...each,
            starts: each.starts.map((start) => (start.unless.every(keeps) ? start : { ...start, unless: [] })),
          },
    );
  }

  private usesLink({ path, isLinking }: Noted): boolean {
    return (
      !isLinking && (this.links.has('*') || path.split('/').some((name) => this.links.has(name) || /[*?[]/.test(name)))
    );
  }

  private forEachSince(from: number, change: (each: Noted) => Noted, to = this.noted.length): void {
    for (let at = from; at < to; at += 1) {
      const each = this.noted[at];
      if (each !== undefined) this.noted[at] = change(each);
    }
  }
}

const SCATTERING: ReadonlySet<string> = new Set('patch split csplit cpio uudecode git tar gtar bsdtar'.split(' '));

/** Whether a program writes files whose names its arguments do not tell: parts, what a patch or an archive names. */
function scatters(program: string, args: readonly Field[]): boolean {
  if (!SCATTERING.has(program)) return false;
  if (program !== 'git' && !program.endsWith('tar')) return true;
  const words = args.map(({ text }) => text);
  if (program === 'git') return /^(?:apply|am)$/.test(words.find((word) => !word.startsWith('-')) ?? '');
  // An archive that lies there may be run from; one that is piped in may hold anything.
  const isExtracting = words.some((word, at) => /^-?\w*x/.test(word) && (at === 0 || word.startsWith('-')));
  const isNamed = words.some(
    (word, at) => /^-\w*f/.test(word) || (at === 0 && /^\w*f/.test(word)) || /^--fi/.test(word),
  );
  return isExtracting && (!isNamed || words.some((word) => /^-$|^\/dev\/|^-\w*f-$|=-$/.test(word)));
}

function under(directory: string | undefined, below = ''): string | undefined {
  if (/^[/~]/.test(below)) return below;
  if (directory === undefined) return undefined;
  return directory === '' ? below : `${directory}/${below}`;
}

function bare({ path, intent, known, start, end, starts }: Noted): CommandPath {
  return { path, intent, known, start, end, starts };
}
