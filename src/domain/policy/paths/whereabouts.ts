/** A directory in which a relative path may begin, seen from where the command line begins; undefined where nobody can tell. */
export interface Start {
  readonly directory: string | undefined;
  /** Only if one of these cannot be entered: then a `cd` has failed and left one where one was. */
  readonly unless: readonly string[];
}

export type Starts = readonly Start[];

const LOST: Starts = [{ directory: undefined, unless: [] }];
const BEGINNING: Starts = [{ directory: '', unless: [] }];
const MOST_STARTS = 16;
const MOST_DIRECTORIES = 64;

/**
 * Where a command line may be, step by step: after a command that went well, and after one that failed. `cd x && y` is y in x;
 * `cd x; y` is y in x, or where one was if there is no x.
 */
export class Whereabouts {
  private well: Starts = BEGINNING;
  private failed: Starts = BEGINNING;
  private isWandering = false;
  /** All that were ever changed to, in order. */
  readonly directories: string[] = [];

  get here(): Starts {
    return this.isWandering ? LOST : union(this.well, this.failed);
  }

  /** Everywhere it has been: where a function is called from nobody follows. */
  get anywhere(): Starts {
    if (this.isWandering || this.directories.length >= MOST_DIRECTORIES) return LOST;
    return [...BEGINNING, ...this.directories.map((directory) => ({ directory, unless: [] }))];
  }

  be(starts: Starts): void {
    this.well = starts;
    this.failed = starts;
  }

  /** What stands between `&&` and `||`, one after the other. */
  inOrder<Step>(steps: readonly Step[], operators: readonly string[], take: (step: Step) => void): void {
    let at = 0;
    for (const step of steps) {
      const { well, failed } = this;
      const operator = at === 0 ? undefined : operators[at - 1];
      at += 1;
      this.be(operator === '&&' ? well : operator === '||' ? failed : this.here);
      take(step);
      if (operator === '&&') this.failed = union(failed, this.failed);
      if (operator === '||') this.well = union(well, this.well);
    }
  }

  /** What one of these does, or none of them, is what has happened. */
  oneOf<Way>(ways: readonly Way[], take: (way: Way) => void): void {
    const before = this.here;
    let after = before;
    for (const way of ways) {
      this.be(before);
      take(way);
      after = union(after, this.here);
    }
    this.be(after);
  }

  /** A shell of its own: wherever it goes, the others stay. */
  apart(step: () => void, from: Starts = this.here): void {
    const { well, failed } = this;
    this.be(from);
    step();
    this.well = well;
    this.failed = failed;
  }

  negated(): void {
    [this.well, this.failed] = [this.failed, this.well];
  }

  /** What is done again and again. False if it leads ever further, so that nobody can tell where it begins. */
  repeated(step: () => void): boolean {
    const before = this.here;
    step();
    if (isSame(union(before, this.here), before)) return true;
    this.be(LOST);
    return false;
  }

  /** What is done whenever it is called. */
  called(step: () => void): void {
    const before = this.here;
    const { length } = this.directories;
    this.apart(() => {
      step();
      if (!isSame(this.here, before) || this.directories.length > length) this.wander();
    });
  }

  /** From here on nobody can tell. */
  wander(): void {
    this.isWandering = true;
  }

  /** `isPlain`: it fails only where there is no such directory. */
  change(to: string | undefined, isPlain: boolean): void {
    if (to === undefined || this.directories.length >= MOST_DIRECTORIES) {
      this.be(LOST);
      return;
    }
    const before = this.here;
    const well = before.map(({ directory, unless }) => ({ directory: joined(directory, to), unless }));
    for (const { directory } of well)
      if (directory !== undefined && !this.directories.includes(directory)) this.directories.push(directory);
    this.well = union(well, []);
    this.failed = before.map((start, at) => {
      const target = well[at]?.directory;
      return isPlain && target !== undefined ? { ...start, unless: [...start.unless, target] } : start;
    });
  }

  /** `cd -`, `popd`: to somewhere one has been before. */
  goBack(): void {
    this.be(this.here === LOST ? LOST : this.anywhere);
  }
}

export function isLost(starts: Starts): boolean {
  return starts.some(({ directory }) => directory === undefined);
}

function joined(directory: string | undefined, to: string): string | undefined {
  if (/^[/~]/.test(to)) return to;
  if (directory === undefined) return undefined;
  return directory === '' ? to : `${directory}/${to}`;
}

function union(one: Starts, other: Starts): Starts {
  // Most command lines stay where they are.
  if (one === other) return one;
  const all = [...one];
  for (const start of other) if (!all.some((known) => isSameStart(known, start))) all.push(start);
  return all.length > MOST_STARTS || isLost(all) ? LOST : all;
}

function isSame(one: Starts, other: Starts): boolean {
  if (one === other) return true;
  return one.length === other.length && one.every((start, at) => isSameStart(start, other[at]));
}

function isSameStart(one: Start, other: Start | undefined): boolean {
  if (other === undefined || one.directory !== other.directory || one.unless.length !== other.unless.length)
    return false;
  return one.unless.every((each, at) => each === other.unless[at]);
}

export { LOST };
