import type { Row } from './measure.ts';

/** Three significant digits, with thousands set apart. */
export function shown(value: number | null): string {
  if (value === null) return '';
  const rounded = Number(value.toPrecision(3));
  return rounded >= 1000 ? rounded.toLocaleString('en-US') : String(rounded);
}

function range([least, most]: readonly [number, number]): string {
  return least === most ? '' : `${shown(least)} to ${shown(most)}`;
}

export function printTable(rows: readonly Row[]): void {
  const lines = rows.map(({ name, ours, spread, peer, peerSpread, ratio, budget, ok, unit }) => [
    name,
    shown(ours),
    range(spread),
    shown(peer),
    peerSpread === undefined ? '' : range(peerSpread),
    unit,
    shown(ratio),
    budget ?? '',
    budget === null ? '' : ok ? 'ok' : 'MISSED',
  ]);
  const all = [['what', 'ours', 'spread', 'peer', 'spread', 'unit', 'ratio', 'budget', ''], ...lines];
  const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  for (const line of all)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}
