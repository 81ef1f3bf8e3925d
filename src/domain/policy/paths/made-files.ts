import { MATCH, type Field } from '../../command/expand.ts';
import { programName } from '../../command/wrappers.ts';
import { implicitInputsOf, isAmong, type Inputs } from './implicit-inputs.ts';
import { knownProgram } from '../programs/known-program.ts';
import { isOnlySaid } from '../second-look/only-said.ts';
import { formOf } from './forms.ts';
import type { CommandPath } from './paths.ts';
import type { Run, Site } from '../reading/reading.ts';
import { scatters, scattersNamed, unpacks } from './scattering.ts';

/** Of the places where a name is noted: one that is not among the file's own is enough. */
const MOST_PLACES = 8;
/** Names with what may be one of them; beyond that nobody looks. */
const MOST_COMPARED = 50_000;

export interface Noted extends CommandPath {
  readonly certain: boolean;
  /** Part of what makes a link: the link itself is no use of it. */
  readonly isLinking: boolean;
  /** Whether what it holds may be as the command line wants it; `compiled`: if the line makes anything else that it could be made of. */
  readonly isMade: boolean | 'compiled';
  /** A part of its name is only known when the line makes it. */
  readonly isMadeUp: boolean;
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

/** What they write they make of what the project holds, or keep its meaning; their arguments name it and no more. */
export const BUILDS: ReadonlySet<string> = new Set(
  (
    'make gmake ninja cmake npm pnpm yarn bun cargo go just rake gradle mvn docker kubectl tsc eslint prettier biome black ruff isort ' +
    'mypy pytest jest vitest shellcheck shfmt gofmt rustfmt git'
  ).split(' '),
);

const NO_RUNS: readonly Run[] = [];
/** A name that is more than a name to some programs. */
const ODD = /[=@'"`(,;|&$<>]/;
const NO_NAMES: ReadonlyMap<string, number> = new Map();
/** Where programs lie that are found by their name. */
const INSTALLED = /^(?:[~…]|\/(?:usr|opt|snap|nix|s?bin)\/)|(?:^|\/)(?:node_modules|s?bin|\.bin)(?:\/|$)/;
/** What programs have said, and no program loads. */
const SAID = /\.(?:log|txt|out|err|md|csv|html)$/;

/** What a command line makes of files that it also runs, or that the programs on it take their commands from. */
export class MadeFiles {
  private readonly noted: readonly Noted[];
  private isScattered = false;
  /** The same of those that scatter what may be of this line's making. */
  private readonly scattering: [from: number, to: number][] = [];
  /** Ranges of `noted` that belong to programs which make files of what these name. */
  private readonly unpacked: [from: number, to: number][] = [];
  /** Whether something may run before what stands in front of it: loops, functions, pipes, substitutions. */
  private isOutOfOrder = false;

  constructor(noted: readonly Noted[]) {
    this.noted = noted;
  }

  /** Notes what a program makes of what is not named, or of what is; `isFed`: another file is its input. */
  scatter(program: string, args: readonly Field[], own: [number, number], isFed: boolean): void {
    if (unpacks(program, args)) this.unpacked.push(own);
    if (!scatters(program, args)) return;
    this.isScattered = true;
    // Which file is its input is noted elsewhere.
    if (isFed) this.unpacked.push([0, Infinity]);
    else if (scattersNamed(program, args)) this.unpacked.push(own);
    else this.scattering.push(own);
  }

  /** From here on the order in which things stand says little. */
  loseOrder(): void {
    this.isOutOfOrder = true;
  }

  /** A file that the same command line writes may hold anything by the time it is run. */
  writtenAmong<T extends RunFile>(files: readonly T[]): readonly T[] {
    if (files.length === 0 || this.isScattered || this.unpacksItsOwn()) return files;
    const written = new Map<string, number[]>();
    let isAny = false;
    for (const [at, { path, intent, certain, isMade }] of this.noted.entries()) {
      if (intent !== 'write' || !isMade || (isMade === 'compiled' && !this.makesSources(at))) continue;
      const name = programName(path);
      // What a glob matches is there already, and a guess at it says little.
      isAny ||= (certain ? /[…*?[]/ : /…/).test(name);
      written.set(name, [...(written.get(name) ?? []).slice(-MOST_PLACES), at]);
    }
    return files.filter(({ path, own: [from, to] }) => {
      const name = programName(path);
      const places = /[*?[]/.test(name) ? [...written.values()].flat() : (written.get(name) ?? []);
      return isAny || places.some((at) => at < from || at >= to || this.noted[at]?.certain === true);
    });
  }

  /** Whether the line makes anything that what is noted there could be compiled of; guesses behind it are what others do with it. */
  private makesSources(compiled: number): boolean {
    return this.noted.some(
      ({ intent, isMade, certain }, at) => intent === 'write' && isMade === true && (certain || at < compiled),
    );
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

  /** Whether the line writes to where programs are installed. */
  installs(): boolean {
    // Whatever it is called, it may lie there.
    return this.noted.some(({ path, intent }) => intent === 'write' && (INSTALLED.test(path) || path.includes('…')));
  }

  /** Those that take their commands from a file which the same line writes, without naming it. */
  readingMade(runs: readonly Followed[]): readonly Run[] {
    const made: number[] = [];
    for (let at = 0; at < this.noted.length; at += 1) {
      const each = this.noted[at];
      if (each?.intent === 'write' && each.isMade) made.push(at);
    }
    if (made.length === 0 && this.scattering.length === 0) return [];
    const isAny = this.unpacksItsOwn() || (made.length + this.scattering.length) * runs.length > MOST_COMPARED;
    return runs
      .filter(({ run, own }) => {
        const inputs = implicitInputsOf(run.program, run.args);
        return (
          inputs.length > 0 && (isAny || this.isScatteredFor(own) || made.some((at) => this.isReadBy(inputs, at, own)))
        );
      })
      .map(({ run }) => run);
  }

  /** Whether another program scatters files; without names of its own nobody can tell whether it is another one. */
  private isScatteredFor([from, to]: RunFile['own']): boolean {
    return this.scattering.some((each) => from === to || each[0] !== from || each[1] !== to);
  }

  /** Whether a name, by where it is noted, may be one of these inputs of a program whose own names are noted there. */
  private isReadBy(inputs: readonly Inputs[], at: number, [from, to]: RunFile['own']): boolean {
    if (this.isOutOfOrder ? at >= from && at < to : at >= from) return false;
    const { path = '', certain, starts = [] } = this.noted[at] ?? {};
    if (certain === true && path.includes('…', path.lastIndexOf('/') + 1)) return true;
    const isBelow = (each: Inputs) =>
      starts.some(({ directory = '' }) => directory !== '' && isAmong(each, `${directory}/${path}`));
    return inputs.some((each) => isAmong(each, path) || isBelow(each));
  }

  /** Those that nobody knows, and that are given a file which the same line writes, or are called as one is. */
  givenMade(runs: readonly Followed[]): readonly Run[] {
    const made = this.namesMade();
    return made.size === 0 ? NO_RUNS : runs.filter((each) => this.isGivenOne(each, made)).map(({ run }) => run);
  }

  private isGivenOne({ run, own: [from, to] }: Followed, made: ReadonlyMap<string, number>): boolean {
    const isOther = (name: string) => {
      const at = made.get(name);
      return at !== undefined && (at < from || (this.isOutOfOrder && at >= to));
    };
    if (isOther(run.program) && !run.name.text.includes('/')) return true;
    if (!mayRunWhatItIsGiven(run.program)) return false;
    return this.noted.slice(from, to).some(({ path }) => isOther(programName(path)));
  }

  /** What the line writes for certain, also without its ending: a program may call y.py y. */
  private namesMade(): ReadonlyMap<string, number> {
    let made: Map<string, number> | undefined;
    for (let at = 0; at < this.noted.length; at += 1) {
      const each = this.noted[at];
      if (each?.intent !== 'write' || !each.certain || each.isMade === false) continue;
      if (each.isMade === 'compiled' && !this.makesSources(at)) continue;
      const name = programName(each.path);
      const dot = name.lastIndexOf('.');
      made ??= new Map();
      made.set(name, at);
      if (dot > 0) made.set(name.slice(0, dot), at);
    }
    return made ?? NO_NAMES;
  }

  /** Those for which a name that the same line makes may turn out to be an option: `touch -- -x; sed p *`. */
  globbingMade(runs: readonly Followed[]): readonly Run[] {
    const names = this.noted.filter(({ intent }) => intent === 'write');
    const isOption = names.some(({ path, isMadeUp }) => isMadeUp || /(?:^|[/\s"'\\])[-+]/.test(path));
    // To some programs other names are more than that as well: `A=b`, `@x`, `select 1`.
    const isOdd = names.some(({ path, certain }) => certain && ODD.test(path));
    return runs
      .map(({ run }) => run)
      .filter(
        ({ args, program }) =>
          (isOption && mayMatchOption(args)) || (isOdd && args.some(({ glob }) => glob) && !isOnlySaid([program])),
      );
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
}

/** Of others it is known what they do with files. */
function mayRunWhatItIsGiven(program: string): boolean {
  return knownProgram(program).isStranger && formOf(program) === undefined && !BUILDS.has(program);
}

/** What a glob matches begins as the glob does; behind `--` it is no option. */
function mayMatchOption(args: readonly Field[]): boolean {
  const end = args.findIndex(({ text }) => text === '--');
  const before = end === -1 ? args : args.slice(0, end);
  return before.some(
    // Names that `xargs` adds it takes apart at blanks.
    ({ text, glob, many, found }) =>
      (glob && /^[*?[-]/.test(text)) || text.startsWith(MATCH) || (many && (found === true || text.includes(MATCH))),
  );
}
