import { parse } from 'unbash';
import type * as Holder from '../src/domain/policy/holder.ts';
import type * as Judge from '../src/domain/policy/judge.ts';
import { alternate, nanosecondsOf, row, shipped } from './measure.ts';
import type { Row } from './measure.ts';

const USUAL = 'npm run build && npm test -- --watch=false 2>&1 | tee test.log';
const SHORT = 'git status --short';
const BLOCKED = 'cd build && sudo make install';
const LINE = 'for f in src/*.ts; do grep -n "foo $f" "$f" | sed -e "s/a/b/" > out.log; done\n';
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
  });
  const microseconds = (values: readonly number[]) => values.map((value) => value / 1000);
  const perByte = (values: readonly number[], text: string) => values.map((value) => value / text.length);
  return [
    row('policy: a usual line', 'µs', microseconds(seen.usual), null, { atMost: 30 }),
    row('policy: a short line', 'µs', microseconds(seen.short), null, { atMost: 30 }),
    row('policy: a blocked one', 'µs', microseconds(seen.blocked), null, { atMost: 30 }),
    row('policy: a usual line / parsing it and no more', 'ns', seen.usual, seen.parsed),
    row('policy: a usual line / bare Map lookup', 'ns', seen.usual, seen.map),
    row('policy: the same line again / bare Map lookup', 'ns', seen.cached, seen.map, { atMost: 20 }),
    // zeph 0.21.2 by its own account: 8.8 µs a check, 1.08 ms for a script of 8.6 KB.
    row('policy: a script of 8.6 KB (zeph, as quoted: 1080)', 'µs', microseconds(seen.eight)),
    row(
      'policy: per byte, 17 KB / 1 KB',
      'ns',
      perByte(seen.sixteen, scripts.sixteen),
      perByte(seen.kilobyte, scripts.kilobyte),
      { atMost: 2 },
    ),
    row(
      'policy: per byte, 32 KB / 8.6 KB',
      'ns',
      perByte(seen.thirty, scripts.thirty),
      perByte(seen.eight, scripts.eight),
      {
        atMost: 2,
      },
    ),
  ];
}

function scriptOf(length: number): string {
  return LINE.repeat(Math.floor(length / LINE.length));
}
