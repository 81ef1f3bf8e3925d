import { MATCH, type Field } from '../command/expand.ts';
import { isMachine } from '../command/pillars.ts';
import { programName } from '../command/wrappers.ts';
import { implicitInputsOf, isAmong, type Inputs } from './implicit-inputs.ts';
import { linksOf } from './links.ts';
import { namedPath, pathsOf, type CommandPath, type Named } from './paths.ts';
import type { Run, Site } from './reading.ts';
import { scatters, scattersNamed, unpacks, writtenByGit } from './scattering.ts';
import { LOST, Whereabouts, type Starts } from './whereabouts.ts';

const STREAMS = /^\/dev\/(?:null|stdin|stdout|stderr|tty|zero|u?random|fd\/[\d\uffff]+)$/;
const MOST_PATHS = 2000;
/** Of the places where a name is noted: one that is not among the file's own is enough. */
const MOST_PLACES = 8;
/** Names with what may be one of them; beyond that nobody looks. */
const MOST_COMPARED = 50_000;

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

/** A program that is run here, and which of the names noted are its own. */
export interface Followed {
  readonly run: Run;
  readonly own: RunFile['own'];
}

/** What programs have said, and no program loads. */
const SAID = /\.(?:log|txt|out|err|md|csv|html)$/;
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
  /** Whether there are more than anybody could look at. */
  isFull = false;
  /** Whether there are more words that may be names. */
  private isGuessedAt = false;
  private isScattered = false;
  /** Whether what is scattered may be of this line's making. */
  private isScatteredHere = false;
  /** Ranges of `noted` that belong to programs which make files of what these name. */
  private readonly unpacked: [from: number, to: number][] = [];
  /** Whether something may run before what stands in front of it: loops, functions, pipes, substitutions. */
  private isOutOfOrder = false;

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
      if (certain) this.isFull = true;
      else this.isGuessedAt = true;
      return;
    }
    const { path: name, known } = namedPath(path);
    this.noted.push({ path: name, known, intent, start, end, starts, certain, isLinking, isMade });
  }

  addRead(path: string, site: Site): void {
    this.add({ path, intent: 'read', certain: true }, site);
  }

  /** The files among a program's arguments; `isFed`: another one is its input. */
  addAll(program: string, args: readonly Field[], site: Site, isFed: boolean): void {
    if (program === 'ln') {
      const { names, paths } = linksOf(args);
      for (const name of names) this.links.add(name);
      for (const each of paths) this.add(each, site, this.where.here, true);
      return;
    }
    const { here } = this.where;
    const from = this.noted.length;
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
    if (program === 'git')
      for (const path of writtenByGit(args)) this.add({ path, intent: 'write', certain: false }, site);
    this.scatter(program, args, from, isFed);
  }

  private scatter(program: string, args: readonly Field[], from: number, isFed: boolean): void {
    const own: [number, number] = [from, this.noted.length];
    if (unpacks(program, args)) this.unpacked.push(own);
    if (!scatters(program, args)) return;
    this.isScattered = true;
    // Which file is its input is noted elsewhere.
    if (isFed) this.unpacked.push([0, Infinity]);
    else if (scattersNamed(program, args)) this.unpacked.push(own);
    else this.isScatteredHere = true;
  }

  /** From here on the order in which things stand says little. */
  loseOrder(): void {
    this.isOutOfOrder = true;
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
    this.loseOrder();
    if (!this.where.repeated(step)) this.forEachSince(from, (each) => ({ ...each, starts: LOST }));
  }

  called(step: () => void): void {
    const from = this.noted.length;
    this.loseOrder();
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
    const [paths, guesses]: [CommandPath[], CommandPath[]] = [[], []];
    for (const { path, intent, known, start, end, starts, certain } of this.noted)
      (certain ? paths : guesses).push({ path, intent, known, start, end, starts });
    if (this.isGuessedAt) paths.push({ path: '…', intent: 'write', known: false, start: 0, end: 1, starts: LOST });
    return { paths, guesses };
  }

  /** A file that the same command line writes may hold anything by the time it is run. */
  writtenAmong<T extends RunFile>(files: readonly T[]): readonly T[] {
    if (files.length === 0 || this.isScattered || this.unpacksItsOwn()) return files;
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

  /** Whether the line makes a file that may be code in one of these places; what the command around the site may make comes later. */
  makesCode(places: readonly string[], within: Site | undefined): boolean {
    if (this.isScattered || this.unpacked.length > 0) return true;
    const names = new Set(places.map(programName));
    const isOwn = ({ start, end }: Site) => within !== undefined && start <= within.start && end >= within.end;
    return this.noted.some(({ path, intent, isMade, certain, ...site }) => {
      const isSaid = SAID.test(path) && !names.has(programName(path));
      return intent === 'write' && isMade && !isSaid && (certain || !isOwn(site));
    });
  }

  /** Those that take their commands from a file which the same line writes, without naming it. */
  readingMade(runs: readonly Followed[]): readonly Run[] {
    const made: number[] = [];
    for (let at = 0; at < this.noted.length; at += 1) {
      const each = this.noted[at];
      if (each?.intent === 'write' && each.isMade) made.push(at);
    }
    if (made.length === 0 && !this.isScatteredHere) return [];
    const isAny = this.isScatteredHere || this.unpacksItsOwn() || made.length * runs.length > MOST_COMPARED;
    return runs
      .filter(({ run, own }) => {
        const inputs = implicitInputsOf(run.program, run.args);
        return inputs.length > 0 && (isAny || made.some((at) => this.isReadBy(inputs, at, own)));
      })
      .map(({ run }) => run);
  }

  /** Whether a name, by where it is noted, may be one of these inputs of a program whose own names are noted there. */
  private isReadBy(inputs: readonly Inputs[], at: number, [from, to]: RunFile['own']): boolean {
    if (this.isOutOfOrder ? at >= from && at < to : at >= from) return false;
    const { path = '', certain } = this.noted[at] ?? {};
    if (certain === true && path.includes('…', path.lastIndexOf('/') + 1)) return true;
    return inputs.some((each) => isAmong(each, path));
  }

  /** Those for which a name that the same line makes may turn out to be an option: `touch -- -x; sed p *`. */
  globbingMade(runs: readonly Followed[]): readonly Run[] {
    const isMade = this.noted.some(
      ({ intent, path }) => intent === 'write' && (path.startsWith('-') || path.includes('/-')),
    );
    return isMade ? runs.map(({ run }) => run).filter(({ args }) => mayMatchOption(args)) : [];
  }

  /** Whether an archive is unpacked that the same line has made. */
  private unpacksItsOwn(): boolean {
    if (this.unpacked.length === 0) return false;
    if (this.unpacked.length * this.noted.length > MOST_COMPARED) return true;
    const isOf = (at: number, [from, to]: readonly [number, number]) => at >= from && at < to;
    return this.unpacked.some((own) => {
      const names = new Set<string>();
      for (const [at, { path, intent }] of this.noted.entries())
        if (isOf(at, own) && (own[1] !== Infinity || intent === 'read')) names.add(programName(path));
      return this.noted.some(
        ({ path, intent, isMade }, at) =>
          (!isOf(at, own) || own[1] === Infinity) && intent === 'write' && isMade && names.has(programName(path)),
      );
    });
  }

  /** A directory that the same line may take away, or close, is perhaps not entered although it is there now. */
  private distrust(): void {
    const changed = this.noted.filter(({ intent }) => intent === 'write').map(({ path }) => programName(path));
    const names = new Set(changed);
    const isAny = changed.some((name) => /[…*?[]/.test(name));
    const lost = new Set(this.where.directories.filter((directory) => isAny || names.has(programName(directory))));
    if (lost.size === 0) return;
    const keeps = (directory: string) => !lost.has(directory);
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

/** What a glob matches begins as the glob does; behind `--` it is no option. */
function mayMatchOption(args: readonly Field[]): boolean {
  const end = args.findIndex(({ text }) => text === '--');
  const before = end === -1 ? args : args.slice(0, end);
  return before.some(({ text, glob }) => (glob && /^[*?[-]/.test(text)) || text.startsWith(MATCH));
}

function under(directory: string | undefined, below = ''): string | undefined {
  if (/^[/~]/.test(below)) return below;
  if (directory === undefined) return undefined;
  return directory === '' ? below : `${directory}/${below}`;
}
