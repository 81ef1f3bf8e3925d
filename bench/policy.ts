import { parse } from 'unbash';
import type * as Holder from '../src/domain/policy/holder.ts';
import type * as Judge from '../src/domain/policy/judge.ts';
import { alternate, nanosecondsOf, row, shipped } from './measure.ts';
import type { Row } from './measure.ts';

const USUAL = 'npm run build && npm test -- --watch=false 2>&1 | tee test.log';
const SHORT = 'git status --short';
const BLOCKED = 'cd build && sudo make install';
const LINE = 'for f in src/*.ts; do grep -n "foo $f" "$f" | sed -e "s/a/b/" > out.log; done\n';
const OPTIONS = ['git ', '-c a.b=c ', 'status'] as const;
const COMMANDS = ['find . ', '-exec ls {} \\; ', '-print'] as const;
const TIMES = 5000;

/** One command line, read anew and from memory, beside a bare lookup; then scripts of growing length. */
export async function policy(): Promise<readonly Row[]> {
  const { judgeCommand } = (await import(shipped('src/domain/policy/judge'))) as typeof Judge;
  const { PolicyHolder } = (await import(shipped('src/domain/policy/holder'))) as typeof Holder;
  const holder = new PolicyHolder();
  const { current } = holder;
  const map = new Map([[USUAL, true]]);
  const scripts = {
    kilobyte: scriptOf(1000),
    eight: scriptOf(8600),
    sixteen: scriptOf(17_200),
    thirty: scriptOf(32_000),
  };
  const options = { eight: lineOf(OPTIONS, 8600), thirty: lineOf(OPTIONS, 32_000) };
  const commands = { eight: lineOf(COMMANDS, 8600), thirty: lineOf(COMMANDS, 32_000) };
  const judge = (text: string, times: number) => nanosecondsOf(times, () => judgeCommand(text, current));
  // As in a process that has judged some thousands: until then it is compiled while it runs.
  for (const text of [USUAL, SHORT, BLOCKED]) judge(text, 4 * TIMES);
  judge(scripts.kilobyte, 1000);
  const seen = await alternate({
    usual: () => judge(USUAL, TIMES),
    short: () => judge(SHORT, TIMES),
    blocked: () => judge(BLOCKED, TIMES),
    cached: () => nanosecondsOf(TIMES * 100, () => holder.judge(USUAL)),
    parsed: () => nanosecondsOf(TIMES, () => parse(USUAL)),
    map: () => nanosecondsOf(TIMES * 100, () => map.get(USUAL)),
    kilobyte: () => judge(scripts.kilobyte, 200),
    eight: () => judge(scripts.eight, 40),
    sixteen: () => judge(scripts.sixteen, 20),
    thirty: () => judge(scripts.thirty, 10),
    eightOfOptions: () => judge(options.eight, 20),
    thirtyOfOptions: () => judge(options.thirty, 5),
    eightOfCommands: () => judge(commands.eight, 20),
    thirtyOfCommands: () => judge(commands.thirty, 5),
  });
  const microseconds = (values: readonly number[]) => values.map((value) => value / 1000);
  return [
    row('policy: a usual line (zeph, as quoted: 8.8)', 'µs', microseconds(seen.usual), null, { lowestAtMost: 30 }),
    row('policy: a short line', 'µs', microseconds(seen.short), null, { lowestAtMost: 30 }),
    row('policy: a blocked one', 'µs', microseconds(seen.blocked), null, { lowestAtMost: 30 }),
    row('policy: a usual line / parsing it and no more', 'ns', seen.usual, seen.parsed),
    row('policy: a usual line / bare Map lookup', 'ns', seen.usual, seen.map),
    row('policy: the same line again / bare Map lookup', 'ns', seen.cached, seen.map, { atMost: 20 }),
    // zeph 0.21.2 by its own account: 8.8 µs a check, 1.08 ms for a script of 8.6 KB.
    row('policy: a script of 8.6 KB (zeph, as quoted: 1080)', 'µs', microseconds(seen.eight)),
    perByte('17 KB / 1 KB', [seen.sixteen, scripts.sixteen], [seen.kilobyte, scripts.kilobyte]),
    perByte('32 KB / 8.6 KB', [seen.thirty, scripts.thirty], [seen.eight, scripts.eight]),
    // One command in which every argument has a consequence: none may be looked at once for each of the others.
    perByte(
      'one command of 32 KB of options / 8.6 KB',
      [seen.thirtyOfOptions, options.thirty],
      [seen.eightOfOptions, options.eight],
    ),
    perByte(
      'one command that runs 32 KB of others / 8.6 KB',
      [seen.thirtyOfCommands, commands.thirty],
      [seen.eightOfCommands, commands.eight],
    ),
  ];
}

type Judged = readonly [nanoseconds: readonly number[], text: string];

/** Linear in its length: a byte of a long text costs what a byte of a short one does. */
function perByte(name: string, long: Judged, short: Judged): Row {
  const costOf = ([nanoseconds, text]: Judged) => nanoseconds.map((each) => each / text.length);
  return row(`policy: per byte, ${name}`, 'ns', costOf(long), costOf(short), { atMost: 2 });
}

function scriptOf(length: number): string {
  return LINE.repeat(Math.floor(length / LINE.length));
}

function lineOf([head, piece, tail]: readonly [string, string, string], length: number): string {
  return head + piece.repeat(Math.floor((length - head.length - tail.length) / piece.length)) + tail;
}
