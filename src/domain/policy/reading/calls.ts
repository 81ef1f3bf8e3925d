import type { Site } from './reading.ts';

/** Within a function: what is started here runs beside what started it. */
export interface Start {
  readonly within: Start | undefined;
  /** The pipeline and which of its parts this is; undefined for what is left running. */
  readonly pipeline: object | undefined;
  readonly part: object | undefined;
}

interface Call {
  readonly to: string;
  readonly start: Start | undefined;
}

const MOST_CALLS = 500;

/** Who calls whom among the functions of a script, and which calls run beside their caller: `:(){ :|:& };:`. */
export class Calls {
  private readonly sites = new Map<string, Site>();
  private readonly calls = new Map<string, Call[]>();
  private count = 0;

  get isFull(): boolean {
    return this.count > MOST_CALLS;
  }

  defined(name: string, site: Site): void {
    if (!this.sites.has(name)) this.sites.set(name, site);
  }

  called(from: string, to: string, start: Start | undefined): void {
    this.count += 1;
    if (this.count > MOST_CALLS) return;
    const known = this.calls.get(from);
    if (known === undefined) this.calls.set(from, [{ to, start }]);
    else known.push({ to, start });
  }

  /** The functions that start themselves over and over, by whatever way round. */
  bombs(): readonly Site[] {
    // Most command lines define no function.
    if (this.sites.size === 0) return [];
    return [...this.sites].flatMap(([name, site]) => (this.multiplies(name) ? [site] : []));
  }

  private multiplies(name: string): boolean {
    const parts = new Map<object, Set<Start['part']>>();
    for (const { to, start } of this.calls.get(name) ?? []) {
      if (start === undefined || !this.reaches(to, name)) continue;
      for (let each: Start | undefined = start; each !== undefined; each = each.within) {
        if (each.pipeline === undefined) return true;
        const seen = parts.get(each.pipeline) ?? new Set<Start['part']>();
        parts.set(each.pipeline, seen.add(each.part));
        if (seen.size > 1) return true;
      }
    }
    return false;
  }

  private reaches(from: string, to: string): boolean {
    const seen = new Set<string>();
    const open = [from];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (name === to) return true;
      if (seen.has(name)) continue;
      seen.add(name);
      for (const call of this.calls.get(name) ?? []) if (this.sites.has(call.to)) open.push(call.to);
    }
    return false;
  }
}
