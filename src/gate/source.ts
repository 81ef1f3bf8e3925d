import type { Grant } from '../domain/approval/grant.ts';
import type { Rules } from '../domain/rules/rules.schema.ts';
import type { Listening } from '../postgres/listen.ts';
import type { Settings, Standing } from '../postgres/snapshot.ts';

/** Where a gate learns what it must know: the ledger itself, or a server that stands before it. */
export interface Source {
  /** Everything a gate must know before it may say anything. */
  snapshot(): Promise<Snapshot>;
  news(wanted: Wanted): Promise<News>;
  /** Hears what is announced: `trust:<subject>`, `grants:<subject>`, `approval:<id>`, `settings`. */
  listen(onAnnounced: (what: string) => void, onBroken: (error: unknown) => void): Promise<Listening>;
}

export interface Snapshot {
  readonly settings: Settings;
  readonly grants: readonly Grant[];
  readonly inDoubt: readonly Standing[];
  /** Who the gate speaks for, where that is not its own to say. */
  readonly agent?: string | undefined;
}

/** What is asked for; what is left out is not. */
export interface Wanted {
  readonly standingsOf?: readonly number[];
  readonly grantsOf?: readonly number[];
  readonly allGrants?: boolean;
  /** Keys of which it is wanted how far they have been judged. */
  readonly appliedOf?: readonly string[];
  /** Keys of which it is wanted whether they were ever reported. */
  readonly knownOf?: readonly string[];
  /** Whatever changed in the last so many seconds, announced or not. */
  readonly recentSeconds?: number;
  /** The version of the rules that is known already. */
  readonly settingsAfter?: number;
}

export interface News {
  readonly standings: readonly Standing[];
  /** All there are of the tools asked for. */
  readonly grants: readonly { readonly toolKey: string; readonly grants: readonly Grant[] }[];
  /** All there are, where all were asked for. */
  readonly allGrants?: readonly Grant[] | undefined;
  readonly applied: readonly (readonly [key: string, seq: number])[];
  readonly known: readonly string[];
  readonly settings?: NewSettings | undefined;
}

interface NewSettings {
  readonly version: number;
  readonly brokenGlassUntil: number | null;
  /** Absent where they are the known ones. */
  readonly rules?: Rules | undefined;
}
