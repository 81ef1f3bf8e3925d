import { codeOf } from './codes.ts';
import type { LedgerRow } from './record.ts';
import { storableJson } from './text.ts';

type Cell = string | number | boolean | null | undefined;

/**
 * Rows as arrays, one per column, each row once. Written as Postgres reads arrays, because the driver's own writing of
 * twenty arrays costs more than all else that happens to a report. Arrays end with their last value, and plain successes
 * come last, so what only other rows have costs nothing for them; the places keep the order of the flush.
 */
export function columnsOf(rows: readonly LedgerRow[]): readonly string[] {
  const placed = placedOf(rows);
  const sorted = [...placed.filter(({ row }) => !isPlain(row)), ...placed.filter(({ row }) => isPlain(row))];
  const column = (pick: (row: LedgerRow) => Cell) => arrayOf(sorted, ({ row }) => pick(row));
  return [
    column((row) => row.id),
    column((row) => row.subject),
    arrayOf(sorted, ({ place }) => place),
    column((row) => row.serverSubject),
    arrayOf(sorted, ({ serverPlace }) => serverPlace),
    column((row) => codeOf.kind(row.kind)),
    column((row) => row.at),
    column((row) => row.startedAt),
    column((row) => row.trustVersion),
    column((row) => row.scope),
    column((row) => row.agent),
    column((row) => row.session),
    column((row) => codeOf.severity(row.severity)),
    column((row) => codeOf.category(row.category)),
    column((row) => (row.evidence === undefined ? null : row.evidence === 'structured')),
    column((row) => row.recoverable),
    column((row) => (row.probe === undefined ? null : quoted(row.probe))),
    column((row) => row.silentProbe || null),
    column((row) => row.rings || null),
    column((row) => row.canWait || null),
    column((row) => row.onServer || null),
    arrayOf(sorted, ({ concernsServer }) => concernsServer || null),
    column((row) => (row.detail === undefined ? null : quoted(storableJson(row.detail)))),
  ];
}

interface Placed {
  readonly row: LedgerRow;
  readonly place: number;
  readonly serverPlace: number | null;
  /** It counts on the server, or comes after a row of the same flush that does and may have put it in doubt. */
  readonly concernsServer: boolean;
}

function placedOf(rows: readonly LedgerRow[]): readonly Placed[] {
  const seen = new Set<string>();
  const [places, serverPlaces] = [counter(), counter()];
  const concerned = new Set<number>();
  const placed: Placed[] = [];
  for (const row of rows) {
    if (seen.has(row.id)) continue;
    seen.add(row.id);
    const { serverSubject } = row;
    const serverPlace = serverSubject === null ? null : serverPlaces(serverSubject);
    if (serverSubject !== null && row.onServer) concerned.add(serverSubject);
    const concernsServer = serverSubject !== null && concerned.has(serverSubject);
    placed.push({ row, place: places(row.subject), serverPlace, concernsServer });
  }
  return placed;
}

function isPlain({ kind, probe }: LedgerRow): boolean {
  return kind === 'success' && probe === undefined;
}

/** Joined at the end: a text put together cell by cell is a tree of as many pieces, all of them garbage. */
function arrayOf(placed: readonly Placed[], pick: (placed: Placed) => Cell): string {
  const cells: NonNullable<Cell>[] = [];
  let missing = 0;
  for (const one of placed) {
    const cell = pick(one);
    if (cell === null || cell === undefined) {
      missing += 1;
      continue;
    }
    for (; missing > 0; missing -= 1) cells.push('NULL');
    cells.push(cell);
  }
  return `{${cells.join()}}`;
}

export interface Concerned {
  /** Heads that rows concern, or may concern if they listen, with their keys; and the probes that they end. */
  readonly arrays: readonly (readonly unknown[])[];
  /** The heads without which the rows cannot be recorded. */
  readonly heads: readonly number[];
}

export function concernedBy(rows: readonly LedgerRow[]): Concerned {
  const heads = new Map<number, { key: string | null; certain: boolean }>();
  const tokens = new Set<string>();
  const concerns = (id: number, key: string | undefined, certain: boolean) => {
    const known = heads.get(id);
    if (known === undefined || (certain && !known.certain)) heads.set(id, { key: key ?? null, certain });
  };
  for (const row of rows) {
    concerns(row.subject, row.subjectKey, true);
    if (row.serverSubject !== null) concerns(row.serverSubject, row.serverKey, row.onServer);
    if (row.probe !== undefined) tokens.add(row.probe);
  }
  const [ids, found] = [[...heads.keys()], [...heads.values()]];
  return {
    arrays: [ids, found.map(({ key }) => key), found.map(({ certain }) => certain), [...tokens]],
    heads: ids.filter((id) => heads.get(id)?.certain),
  };
}

function counter(): (key: number) => number {
  const counts = new Map<number, number>();
  return (key) => {
    const next = (counts.get(key) ?? 0) + 1;
    counts.set(key, next);
    return next;
  };
}

/** JSON escapes in a text what Postgres escapes in an element of an array, and neither of these texts has anything else to escape. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
