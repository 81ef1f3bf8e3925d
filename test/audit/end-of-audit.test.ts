import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endOfAudit } from '../../src/execution/audit/end-of-audit.ts';
import { allLines } from '../../src/execution/audit/read.ts';
import type { ReadLine } from '../../src/execution/audit/read.ts';
import { auditDirectory, linesOf, openHere, success } from './support.ts';

async function commandsIn(lines: AsyncIterable<ReadLine> | Iterable<ReadLine>): Promise<unknown[]> {
  const commands: unknown[] = [];
  for await (const { line } of lines) commands.push(line['command']);
  return commands;
}

/** Two writers at once, one with many files, one with a file that is longer than is read at first. */
function twoLanes() {
  const directory = auditDirectory();
  const audits = [openHere(directory, { maxFileBytes: 4096 }), openHere(directory)] as const;
  let written = 0;
  const write = async (count: number) => {
    for (const until = written + count; written < until; written += 1) {
      const ts = new Date(1_800_000_000_000 + written).toISOString();
      await audits[written % 3 === 0 ? 0 : 1].append(success({ ts, command: `echo ${written}` }));
    }
  };
  return { directory, write, close: () => Promise.all(audits.map((audit) => audit.close())) };
}

test('the newest lines are those that reading everything would end with, and what comes is told once', async () => {
  const { directory, write, close } = twoLanes();
  await write(600);
  const all = await commandsIn(allLines(directory));
  expect(all).toHaveLength(600);
  for (const most of [1, 2, 13, 599, 600, 5000])
    expect(await commandsIn((await endOfAudit(directory, most)).newest)).toEqual(all.slice(-most));
  const { further } = await endOfAudit(directory, 3);
  expect(await commandsIn(further())).toEqual([]);
  await write(25);
  expect((await commandsIn(further())).sort()).toEqual(
    Array.from({ length: 25 }, (_, at) => `echo ${600 + at}`).sort(),
  );
  expect(await commandsIn(further())).toEqual([]);
  await close();
});

test('a line of which only a part is there yet is told when it is whole', async () => {
  const directory = auditDirectory();
  const audit = openHere(directory);
  for (const command of ['a', 'b']) await audit.append(success({ command }));
  const [first = '', second = ''] = linesOf(directory);
  await audit.close();
  const other = auditDirectory();
  const file = join(other, '0-000001.jsonl');
  appendFileSync(file, `${first}\n${second.slice(0, 50)}`);
  const { newest, further } = await endOfAudit(other, 5);
  expect(await commandsIn(newest)).toEqual(['a']);
  expect(await commandsIn(further())).toEqual([]);
  appendFileSync(file, `${second.slice(50)}\n`);
  expect(await commandsIn(further())).toEqual(['b']);
});

test('where there is no audit there is no end', async () => {
  const { newest, further } = await endOfAudit(join(auditDirectory(), 'none'), 5);
  expect(newest).toEqual([]);
  expect(await commandsIn(further())).toEqual([]);
});
