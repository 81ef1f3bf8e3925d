import type { Style, Terminal } from './terminal.ts';
import { cut, plain, widthOf, wrap } from './text.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'right';
  /** May be cut down to this width where room is short. Absent: never cut. */
  readonly atLeast?: number;
}

export type Cell = string | { readonly text: string; readonly style: Style };

export interface Row {
  readonly cells: readonly Cell[];
  /** What does not fit a column: lines of their own below. */
  readonly note?: string | readonly string[];
}

const GAP = '  ';
const MOST_NOTE_LINES = 2;

/** A table that fits the terminal. Text in cells may be anybody's. */
export function table(terminal: Terminal, columns: readonly Column[], rows: readonly Row[], indent = ''): string {
  const texts = rows.map(({ cells }) => columns.map((_, index) => plain(textOf(cells[index] ?? ''))));
  const widths = fitted(columns, texts, terminal.width - indent.length);
  const noteIndent = `${indent}${' '.repeat(Math.min(widths[0] ?? 0, 20))}${GAP}`;
  const line = (cells: readonly string[], paint: (index: number, text: string) => string) =>
    `${indent}${cells.map((cell, index) => paint(index, padded(columns[index], cell, widths[index] ?? 0))).join(GAP)}`.trimEnd();
  const lines = columns.every(({ title }) => title === '')
    ? []
    : [
        line(
          columns.map(({ title }) => title),
          (_, text) => terminal.paint('dim', text),
        ),
      ];
  rows.forEach(({ cells, note }, row) => {
    lines.push(line(texts[row] ?? [], (index, text) => painted(terminal, cells[index], text)));
    for (const text of [note ?? ''].flat()) {
      for (const more of wrap(plain(text), terminal.width - noteIndent.length, MOST_NOTE_LINES)) {
        lines.push(`${noteIndent}${terminal.paint('dim', more)}`);
      }
    }
  });
  return lines.join('\n');
}

function fitted(columns: readonly Column[], texts: readonly (readonly string[])[], room: number): number[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(widthOf(title), ...texts.map((cells) => widthOf(cells[index] ?? ''))),
  );
  const total = () => widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
  while (total() > room) {
    let widest = -1;
    columns.forEach(({ atLeast }, index) => {
      const width = widths[index] ?? 0;
      if (atLeast !== undefined && width > atLeast && width > (widths[widest] ?? 0)) widest = index;
    });
    if (widest === -1) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function padded(column: Column | undefined, text: string, width: number): string {
  const shown = cut(text, width);
  const space = ' '.repeat(Math.max(0, width - widthOf(shown)));
  return column?.align === 'right' ? `${space}${shown}` : `${shown}${space}`;
}

function painted(terminal: Terminal, cell: Cell | undefined, text: string): string {
  return typeof cell === 'object' ? terminal.paint(cell.style, text) : text;
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}
