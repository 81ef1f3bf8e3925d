import { codeOf } from '../problem.ts';

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;
export type Style = keyof typeof STYLES;

/** The one place that writes to the outside. */
export interface Terminal {
  /** Columns that a line may take. */
  readonly width: number;
  /** Whether there is a person who can be asked. */
  readonly interactive: boolean;
  print(text?: string): void;
  printJson(value: unknown): void;
  /** For output without end: waits while the reader is slower than we are, and throws NobodyReads when it has gone. */
  stream(line: string): Promise<void>;
  /** To standard error: what is not the answer. */
  complain(text: string): void;
  paint(style: Style, text: string): string;
}

const NARROWEST = 60;
const WIDEST = 120;
/** What a table has to fit into where nobody says how wide the reader's window is. */
const USUAL = 80;

export function openTerminal(colour: boolean): Terminal {
  const { stdin, stdout, stderr } = process;
  const painted = colour && stdout.isTTY;
  return {
    width: Math.min(WIDEST, Math.max(NARROWEST, stdout.isTTY ? stdout.columns : USUAL)),
    interactive: stdin.isTTY && stdout.isTTY,
    print: (text = '') => {
      stdout.write(`${text}\n`);
    },
    printJson: (value) => {
      stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    stream: async (line) => {
      const error = await written(stdout, `${line}\n`);
      if (codeOf(error) === 'EPIPE') throw new NobodyReads();
    },
    complain: (text) => {
      stderr.write(`${text}\n`);
    },
    paint: (style, text) => {
      const [on, off] = STYLES[style];
      return painted && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text;
    },
  };
}

/** Ends a command that does nothing but show something, and is no failure of it. */
export class NobodyReads extends Error {
  override readonly name = 'NobodyReads';
}

/** Waits until it is out, or answers why it never will be. */
export function written(stream: NodeJS.WritableStream, text: string | Uint8Array): Promise<Error | null | undefined> {
  return new Promise((resolve) => stream.write(text, resolve));
}
