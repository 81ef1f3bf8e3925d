import type { Script } from 'unbash';
import { CommandPaths } from '../paths/command-paths.ts';
import type { Followed, RunFile } from '../paths/made-files.ts';
import type { CommandPath } from '../paths/paths.ts';
import type { Construct, Doubt, Reading, Run, Site } from './reading.ts';
import { breaksOut, spellsOutVariables } from './steering.ts';

const MOST_RUNS = 2000;
/** Fields looked at, all in all: a wrapper around a wrapper looks at the same ones again. */
const MOST_FIELDS = 100_000;
const MOST_DOUBTS = 200;
/** They differ in their kind alone: more of one kind say nothing new. */
const MOST_OF_A_CONSTRUCT = 40;

/** Settings and the like: programs write them, of what they are told, and no shell is meant to run them. */
const KEPT_BY_PROGRAMS =
  /(?:^|\/)(?:\.git(?:\/.*)?|config|HEAD|(?:FETCH|ORIG|MERGE)_HEAD|packed-refs|\.gitconfig|\.(?!bash|zsh|ksh|mksh|profile)\w+rc)$/;

const NO_COMMAND = 'this does not read as a command: ';

export function syntaxDoubt(message: string): string {
  return `${NO_COMMAND}${message}`;
}

export function isSyntax({ because }: Doubt): boolean {
  return because.startsWith(NO_COMMAND);
}

interface LookedFor {
  readonly places: readonly string[];
  readonly doubt: Doubt;
  readonly isWithinText: boolean;
}

/** What the reader has written down so far. */
export class Notes implements Reading {
  script?: Script;
  readonly runs: Run[] = [];
  readonly doubts: Doubt[] = [];
  readonly constructs: (Site & { readonly construct: Construct })[] = [];
  readonly forkBombs: Site[] = [];
  readonly connections: Site[] = [];
  readonly hidden: Site[] = [];
  isMisread = false;
  isBroken = false;
  readonly named = new CommandPaths();
  paths: readonly CommandPath[] = [];
  guesses: readonly CommandPath[] = [];
  private readonly files: (RunFile & { readonly run: Run })[] = [];
  private readonly followed: Followed[] = [];
  private readonly lookedFor: LookedFor[] = [];
  private readonly found: Doubt[] = [];
  private readonly values: (() => readonly string[])[] = [];
  private readonly constructCounts = new Map<Construct, number>();
  private fieldsSeen = 0;

  get isFlooded(): boolean {
    return this.named.isFull;
  }

  get directories(): readonly string[] {
    return this.named.where.directories;
  }

  /** Whether there is still room for a command of so many fields. */
  hasRoomFor(fields: number): boolean {
    this.fieldsSeen += fields;
    return this.runs.length < MOST_RUNS && this.fieldsSeen <= MOST_FIELDS;
  }

  /** A file whose content is run. */
  runsFile(path: string, run: Run, own: RunFile['own']): void {
    if (KEPT_BY_PROGRAMS.test(path))
      this.doubt('what programs keep in files of their own is what they were told', run, run);
    this.files.push({ path, run, own });
  }

  /** A program that is run on this machine. */
  follows(run: Run, own: RunFile['own']): void {
    this.followed.push({ run, own });
  }

  /** Where programs will look for what they load: of no concern unless the line itself puts something there. */
  looksForCode(places: readonly string[], doubt: Doubt, isWithinText: boolean): void {
    for (const path of places) this.named.add({ path, intent: 'read', certain: false }, doubt);
    if (this.lookedFor.length < MOST_DOUBTS) this.lookedFor.push({ places, doubt, isWithinText });
  }

  /** Where programs are installed is of no concern, unless the line itself puts something there. */
  findsPrograms(doubt: Doubt): void {
    if (this.found.length < MOST_DOUBTS) this.found.push(doubt);
  }

  /** What a variable is set to, should anybody want to know. */
  sets(values: () => readonly string[]): void {
    if (this.values.length < MOST_DOUBTS) this.values.push(values);
  }

  construct(construct: Construct, site: Site): void {
    const count = this.constructCounts.get(construct) ?? 0;
    this.constructCounts.set(construct, count + 1);
    if (count < MOST_OF_A_CONSTRUCT) this.constructs.push({ construct, ...site });
  }

  doubt(because: string, { start, end }: Site, run?: Run): void {
    if (this.doubts.length > MOST_DOUBTS) return;
    // Of no run: what an allow rule lifts must not hide what it does not lift.
    if (this.doubts.length === MOST_DOUBTS)
      this.doubts.push({ because: 'there is more to doubt than anybody could look at', start, end });
    else this.doubts.push(run === undefined ? { because, start, end } : { because, start, end, run });
  }

  /** Once all has been read. */
  finish(): void {
    for (const { run } of this.named.made.writtenAmong(this.files)) {
      if (run.maybe) continue;
      this.doubt('this runs a file that the same command line writes', run, run);
    }
    for (const run of this.named.made.readingMade(this.followed)) {
      if (!run.maybe)
        this.doubt(`${run.program} takes its commands from a file that the same command line writes`, run, run);
    }
    for (const run of this.named.made.givenMade(this.followed)) {
      if (!run.maybe) this.doubt(`${run.program} may run a file that the same command line writes`, run, run);
    }
    for (const run of this.named.made.globbingMade(this.followed)) {
      if (!run.maybe) this.doubt('a name that the same command line makes may turn out to be an option', run, run);
    }
    for (const { places, doubt, isWithinText } of this.lookedFor) {
      if (this.named.made.makesCode(places, isWithinText ? undefined : doubt))
        this.doubt(doubt.because, doubt, doubt.run);
    }
    if (this.found.length > 0 && this.named.made.installs())
      for (const each of this.found) this.doubt(each.because, each, each.run);
    this.finishVariables();
    ({ paths: this.paths, guesses: this.guesses } = this.named.finish());
  }

  /** Every variable of the environment is one of make's, and its recipes spell it out. */
  private finishVariables(): void {
    if (this.values.length === 0) return;
    const spelling = this.followed.filter(({ run }) => !run.maybe && spellsOutVariables(run.program));
    if (spelling.length === 0) return;
    const values = this.values.flatMap((each) => each());
    if (!values.some(breaksOut)) return;
    for (const { run } of spelling) this.doubt(`${run.program} runs what a variable holds`, run, run);
  }
}
