import type { AuditLine } from '../domain/audit/entry.schema.ts';
import { plain } from './text.ts';
import { clock } from './time.ts';

/** Arguments of Surety's own tools that tell what a call is about. */
const SUBJECTS = ['pattern', 'path', 'from', 'to', 'url'];
const WIDEST = 400;

/** A line of the audit as a person reads it. */
export function saidOf(line: AuditLine): string {
  const { ts, result, tool, because, command, exit_code: exitCode } = line;
  const code = typeof exitCode === 'number' && exitCode !== 0 ? ` ${exitCode}` : '';
  const about = [tool, command ?? subjectOf(line), because]
    .filter((part) => typeof part === 'string')
    .map((part) => plain(part));
  return inColumns(ts, `${plain(result)}${code}`, about.join('  '));
}

/** What a call was about that ran no command: the file, the pattern, the address. */
function subjectOf({ arguments: given }: AuditLine): string | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const said = SUBJECTS.map((name): unknown => Reflect.get(given, name)).filter((each) => typeof each === 'string');
  return said.length === 0 ? undefined : said.join(' ');
}

export function inColumns(ts: string, result: string, about: string): string {
  return `${clock(Date.parse(ts))}  ${result.padEnd(10)}  ${about}`.slice(0, WIDEST);
}
