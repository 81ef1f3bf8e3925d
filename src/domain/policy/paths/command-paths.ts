import { MADE, type Field } from '../../command/expand.ts';
import { isMachine } from '../../command/pillars.ts';
import { programName } from '../../command/wrappers.ts';
import { beginsHere, takesBelow } from './following.ts';
import { linksOf } from './links.ts';
import { BUILDS, MadeFiles, type Noted } from './made-files.ts';
import { namedPath, pathsOf, type CommandPath, type Named } from './paths.ts';
import type { Site } from '../reading/reading.ts';
import { writtenByGit } from './scattering.ts';
import { LOST, Whereabouts, type Starts } from './whereabouts.ts';

const STREAMS = /^\/dev\/(?:null|stdin|stdout|stderr|tty|zero|u?random|fd\/[\d\uffff]+)$/;
const MOST_PATHS = 2000;

/** They leave what a file holds as it is, or take the file away. */
const KEEPS_CONTENT: ReadonlySet<string> = new Set('chmod chown chgrp touch mkdir rmdir rm unlink'.split(' '));
/** The same of one file, in which others may be named. */
const COMPILES: ReadonlySet<string> = new Set('gcc cc g++ c++ clang clang++ rustc tcc'.split(' '));

/** The files that a command line names, and where it is when it names them. */
export class CommandPaths {
  readonly where = new Whereabouts();
  private readonly noted: Noted[] = [];
  readonly made = new MadeFiles(this.noted);
  /** Ranges of `noted` that belong to functions. */
  private readonly callable: [from: number, to: number][] = [];
  private readonly links = new Set<string>();
  /** Whether there are more than anybody could look at. */
  isFull = false;
  /** Whether there are more words that may be names. */
  private isGuessedAt = false;

  get count(): number {
    return this.noted.length;
  }

  add(
    { path, intent, certain, takes }: Named,
    { start, end }: Site,
    starts: Starts = this.where.here,
    isLinking = false,
    isMade: Noted['isMade'] = true,
  ): void {
    if (path.startsWith('/dev/') && STREAMS.test(path)) return;
    if (this.noted.length >= MOST_PATHS && !(intent === 'write' && isMachine(path))) {
      if (certain) this.isFull = true;
      else this.isGuessedAt = true;
      return;
    }
    const { path: name, known } = namedPath(path);
    const isMadeUp = !known && path.includes(MADE, path.lastIndexOf('/') + 1);
    const noted = { path: name, known, intent, start, end, starts, certain, isLinking, isMade, isMadeUp };
    this.noted.push(takes === undefined ? noted : { ...noted, takes });
  }

  addRead(path: string, site: Site): void {
    this.add({ path, intent: 'read', certain: true }, site);
  }

  /** The files among a program's arguments; `isFed`: another one is its input. */
  addAll(program: string, args: readonly Field[], site: Site, isFed: boolean): void {
    const from = this.noted.length;
    if (program === 'ln') {
      const { names, paths } = linksOf(args);
      for (const name of names) this.links.add(name);
      for (const each of paths) this.add(each, site, this.where.here, true);
      this.made.scatter(program, args, [from, this.noted.length], isFed);
      return;
    }
    const { here } = this.where;
    const isKept = KEEPS_CONTENT.has(program);
    const isBuilt = BUILDS.has(program);
    const isCompiled = COMPILES.has(program) && !args.some((arg) => isFromElsewhere(arg) || arg.text.startsWith('-M'));
    for (const each of this.followed(program, args)) {
      this.add(
        each,
        site,
        each.below === undefined
          ? here
          : here.map((start) => ({ ...start, directory: under(start.directory, each.below) })),
        false,
        isCompiled ? 'compiled' : !isKept && (each.certain || !isBuilt),
      );
    }
    if (program === 'git')
      for (const path of writtenByGit(args)) this.add({ path, intent: 'write', certain: false }, site);
    this.made.scatter(program, args, [from, this.noted.length], isFed);
  }

  /** The paths of a program, and what becomes of what lies below them. */
  private followed(program: string, args: readonly Field[]): readonly Named[] {
    const paths = pathsOf(program, args);
    const takes = takesBelow(program, args);
    if (takes.length === 0) return paths;
    const read = paths.some(({ intent, certain }) => intent === 'read' && certain);
    const here: readonly Named[] = !read && beginsHere(program) ? [{ path: '.', intent: 'read', certain: true }] : [];
    // Which of them it is copied or moved to, nobody tells here.
    const namesTarget = args.some(({ text }) => /^--t[a-z-]*$/.test(text));
    return [...paths, ...here].map((each) => {
      const isTaken = each.certain && (each.intent === 'read' || namesTarget);
      const own = takes.filter((way) => way === 'links' || way === 'shown' || isTaken);
      return own.length === 0 ? each : { ...each, takes: own };
    });
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
    this.made.loseOrder();
    if (!this.where.repeated(step)) this.forEachSince(from, (each) => ({ ...each, starts: LOST }));
  }

  called(step: () => void): void {
    const from = this.noted.length;
    this.made.loseOrder();
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
    for (const { path, intent, known, start, end, starts, certain, takes } of this.noted) {
      const named = { path, intent, known, start, end, starts };
      (certain ? paths : guesses).push(takes === undefined ? named : { ...named, takes });
    }
    if (this.isGuessedAt) paths.push({ path: '…', intent: 'write', known: false, start: 0, end: 1, starts: LOST });
    return { paths, guesses };
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

/** Sources that are no files of the project: what a pipe says, or nobody knows; or nothing is compiled. */
function isFromElsewhere({ text, open }: Field): boolean {
  return open || text === '-' || text === '-E' || text.startsWith('@') || /(?:^|=)\/(?:dev|proc|tmp)\//.test(text);
}

function under(directory: string | undefined, below = ''): string | undefined {
  if (/^[/~]/.test(below)) return below;
  if (directory === undefined) return undefined;
  return directory === '' ? below : `${directory}/${below}`;
}
