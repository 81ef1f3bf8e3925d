import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { AuditEntry } from '../../src/domain/audit/entry.schema.ts';
import { AuditSection } from '../../src/domain/audit/audit.schema.ts';
import { AuditFailed, openAudit } from '../../src/execution/audit/audit.ts';
import { allLines } from '../../src/execution/audit/read.ts';
import { verifyAudit } from '../../src/execution/audit/verify.ts';
import { auditDirectory, fill, forgetEnds, linesOf, openHere, putLines, success } from './support.ts';

describe('an entry', () => {
  test('exit 3 is no success, a refusal has no exit code, a failure says where and why', () => {
    const failed = { error_category: 'permanent_failure', error_phase: 'run', because: 'x' };
    expect(AuditEntry.safeParse(success({})).success).toBe(true);
    expect(AuditEntry.safeParse({ ...success(), exit_code: 3 }).success).toBe(false);
    expect(AuditEntry.safeParse({ ...success(), exit_code: 127, result: 'error' }).success).toBe(false);
    expect(AuditEntry.safeParse({ ...success(), ...failed, exit_code: 127, result: 'error' }).success).toBe(true);
    expect(AuditEntry.safeParse({ ...success(), ...failed, exit_code: 126, result: 'blocked' }).success).toBe(false);
    for (const approved_by of [undefined, null, 'auto', 'alice']) {
      const blocked = { ...success(), ...failed, exit_code: null, result: 'blocked', approved_by };
      expect(AuditEntry.safeParse(blocked).success).toBe(true);
    }
  });
});

describe('a chain', () => {
  test('goes on over files and over writers, and verifies', async () => {
    const directory = auditDirectory();
    await fill(directory, 20, { maxFileBytes: 2048 });
    await fill(directory, 20, { maxFileBytes: 2048 });
    const found = await verifyAudit(directory);
    expect(found).toMatchObject({ ok: true, lines: 40, torn: 0, heads: [{ lane: 0, seq: 39 }] });
    expect(found.files).toBeGreaterThan(3);
    const commands: unknown[] = [];
    for await (const { line } of allLines(directory)) commands.push(line['command']);
    expect(commands.slice(18, 22)).toEqual(['echo 18', 'echo 19', 'echo 0', 'echo 1']);
    expect(statSync(join(directory, '0-000001.jsonl')).mode & 0o777).toBe(0o600);
  });

  const edits: readonly (readonly [string, number, (lines: string[]) => string[]])[] = [
    ['changed', 5, (lines) => lines.map((line, at) => (at === 4 ? line.replace('echo 4', 'echo 5') : line))],
    ['re-spaced', 5, (lines) => lines.map((line, at) => (at === 4 ? line.replace(',', ', ') : line))],
    ['removed', 5, (lines) => lines.filter((_, at) => at !== 4)],
    ['swapped', 5, (lines) => [...lines.slice(0, 4), lines[5] ?? '', lines[4] ?? '', ...lines.slice(6)]],
    ['inserted twice', 6, (lines) => [...lines.slice(0, 5), lines[4] ?? '', ...lines.slice(5)]],
    ['inserted rubbish', 6, (lines) => [...lines.slice(0, 5), '{}', ...lines.slice(5)]],
    ['cut in the middle', 5, (lines) => lines.map((line, at) => (at === 4 ? line.slice(0, 40) : line))],
    ['removed at the end', 8, (lines) => lines.slice(0, 8)],
    ['removed at the beginning', 1, (lines) => lines.slice(1)],
  ];
  test.each(edits)('a line that was %s is found, at line %i', async (_, line, edit) => {
    const directory = auditDirectory();
    await fill(directory, 10);
    putLines(directory, edit(linesOf(directory)));
    const found = await verifyAudit(directory);
    expect(found).toMatchObject({ ok: false, breaks: [{ file: '0-000001.jsonl', line }] });
  });

  test('a removed, swapped or emptied file is found', async () => {
    for (const damage of ['remove', 'first', 'swap', 'last', 'all'] as const) {
      const directory = auditDirectory();
      await fill(directory, 30, { maxFileBytes: 2048 });
      const files = readdirSync(directory)
        .filter((name) => name.endsWith('.jsonl'))
        .sort();
      const [first = '', second = '', third = ''] = files;
      if (damage === 'remove') rmSync(join(directory, second));
      if (damage === 'first') rmSync(join(directory, first));
      if (damage === 'last') rmSync(join(directory, files.at(-1) ?? ''));
      if (damage === 'all') for (const file of files) rmSync(join(directory, file));
      if (damage === 'swap') {
        renameSync(join(directory, second), join(directory, 'x'));
        renameSync(join(directory, third), join(directory, second));
        renameSync(join(directory, 'x'), join(directory, third));
      }
      const found = await verifyAudit(directory);
      expect({ damage, ok: found.ok, breaks: found.breaks.length }).toEqual({ damage, ok: false, breaks: 1 });
    }
  });
});

describe('lines that are gone', () => {
  const cuts: readonly (readonly [string, (directory: string) => void])[] = [
    ['the last line', (directory) => putLines(directory, linesOf(directory).slice(0, -1))],
    ['half of the last line', (directory) => cutEnd(directory, 40)],
    ['all but the first line', (directory) => putLines(directory, linesOf(directory).slice(0, 1))],
    ['every line', (directory) => putLines(directory, [])],
    ['the file', (directory) => rmSync(join(directory, '0-000001.jsonl'))],
  ];
  const cutEnd = (directory: string, bytes: number) => {
    const path = join(directory, '0-000001.jsonl');
    truncateSync(path, statSync(path).size - bytes);
  };

  test.each(cuts)('%s: the next writer notes it, says it once, and nobody covers it up', async (_, cut) => {
    const directory = auditDirectory();
    await fill(directory, 5);
    cut(directory);
    expect((await verifyAudit(directory)).ok).toBe(false);
    const told: string[] = [];
    for (let writer = 0; writer < 3; writer += 1) {
      const audit = openAudit(directory, AuditSection.parse({ fsync: 'never' }), (message) => told.push(message));
      for (let line = 0; line < 4; line += 1) await audit.append(success());
      await audit.close();
    }
    const found = await verifyAudit(directory);
    expect({ ok: found.ok, breaks: found.breaks.map(({ because }) => because) }).toEqual({
      ok: false,
      breaks: [expect.stringContaining('its writer ended at number 4')],
    });
    expect(told).toEqual([expect.stringContaining('surety audit verify')]);
  });

  test('in the newest of several files, twice, are two losses', async () => {
    const directory = auditDirectory();
    await fill(directory, 20, { maxFileBytes: 2048 });
    const removeNewest = () => {
      const files = readdirSync(directory).filter((name) => name.endsWith('.jsonl'));
      rmSync(join(directory, files.sort().at(-1) ?? ''));
    };
    removeNewest();
    await fill(directory, 20, { maxFileBytes: 2048 });
    removeNewest();
    await fill(directory, 1, { maxFileBytes: 2048 });
    expect((await verifyAudit(directory)).breaks).toHaveLength(2);
  });

  test('are missed as well after a writer that was killed before it noted them, and a replaced end is one', async () => {
    const directory = auditDirectory();
    await fill(directory, 10);
    const whole = linesOf(directory);
    // It takes up the lane and is killed with no line written, as far as anybody can see afterwards.
    await append(directory, '5', 'kill');
    putLines(directory, whole.slice(0, 7));
    expect((await verifyAudit(directory)).ok).toBe(false);
    await append(directory, '5', 'kill');
    await append(directory, '5', 'close');
    expect((await verifyAudit(directory)).breaks).toMatchObject([{ line: 8 }]);

    const other = auditDirectory();
    await fill(other, 10);
    putLines(other, [...whole.slice(0, 10)]);
    expect((await verifyAudit(other)).ok).toBe(false);
    await fill(other, 3);
    expect((await verifyAudit(other)).ok).toBe(false);
  });

  test('are none where a writer was killed before it could record its end, by one or by many', async () => {
    const directory = auditDirectory();
    for (const end of ['close', 'kill', 'kill', 'close']) await append(directory, '20', end);
    await Promise.all(['kill', 'close', 'kill', 'close'].map((end) => append(directory, '60', end)));
    await Promise.all(['close', 'close'].map((end) => append(directory, '20', end)));
    expect(await verifyAudit(directory)).toMatchObject({ ok: true, lines: 360, breaks: [] });
  });

  test('are none wherever a writer is killed from outside', async () => {
    const directory = auditDirectory();
    for (let turn = 0; turn < 4; turn += 1) {
      const children = [0, 1].map(() => spawnWriter(directory, '100000', 'close'));
      const before = sizeOf(directory);
      while (sizeOf(directory) < before + 30_000) await new Promise((resolve) => setTimeout(resolve, 5));
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map((child) => once(child, 'exit')));
    }
    await append(directory, '5', 'close');
    await Promise.all([append(directory, '5', 'close'), append(directory, '5', 'close')]);
    expect((await verifyAudit(directory)).breaks.filter(({ because }) => !because.includes('torn'))).toEqual([]);
  }, 60_000);
});

function spawnWriter(directory: string, count: string, end: string) {
  const program = join(import.meta.dirname, 'programs/append-lines.ts');
  return spawn(process.execPath, ['--import', 'tsx', program, directory, count, end], { stdio: 'inherit' });
}

async function append(directory: string, count: string, end: string): Promise<void> {
  await once(spawnWriter(directory, count, end), 'exit');
}

function sizeOf(directory: string): number {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
}

const Traces = z.object({ traceEvents: z.array(z.object({ name: z.string(), ph: z.string(), ts: z.number() })) });

/** What node had the system do, begun (`b`) and ended (`e`), in its order, from the call of `append` to its answer. */
async function tracedAppend(fsync: 'always' | 'never'): Promise<readonly string[]> {
  const [directory, traces] = [auditDirectory(), auditDirectory()];
  const trace = join(traces, 'trace.json');
  const program = join(import.meta.dirname, 'programs/append-one.ts');
  const options = ['--trace-event-categories', 'node.fs.async', '--trace-event-file-pattern', trace];
  const child = spawn(process.execPath, [...options, '--import', 'tsx', program, directory, fsync], {
    stdio: 'inherit',
  });
  await once(child, 'exit');
  const { traceEvents } = Traces.parse(JSON.parse(readFileSync(trace, 'utf8')));
  const steps = traceEvents.sort((a, b) => a.ts - b.ts).map(({ name, ph }) => `${name} ${ph}`);
  return steps.slice(steps.indexOf('readlink e') + 1, steps.lastIndexOf('readlink b'));
}

/** Whether the file is still there. */
const LOOKED = ['fstat b', 'fstat e'];

describe('before a call is answered, its line', () => {
  test('is written and on the disk', async () => {
    expect(await tracedAppend('always')).toEqual(['write b', 'write e', 'fdatasync b', 'fdatasync e', ...LOOKED]);
  });

  test('is only written where the rules leave the disk to the system', async () => {
    expect(await tracedAppend('never')).toEqual(['write b', 'write e', ...LOOKED]);
  });
});

describe('a torn last line', () => {
  test.each([1, 20, 150])('of %i bytes is set aside by a note, and nothing is lost', async (bytes) => {
    const directory = auditDirectory();
    await fill(directory, 5);
    const path = join(directory, '0-000001.jsonl');
    const fragment = (linesOf(directory)[0] ?? '').slice(0, bytes);
    appendFileSync(path, fragment);
    expect(await verifyAudit(directory)).toMatchObject({ ok: false, breaks: [{ line: 6 }] });
    await fill(directory, 5);
    expect(await verifyAudit(directory)).toMatchObject({ ok: true, lines: 11, torn: 1 });
    expect(linesOf(directory)[5]).toBe(fragment);
    // Torn again while it was noted.
    forgetEnds(directory);
    truncateSync(path, statSync(path).size - 7);
    await fill(directory, 1);
    expect(await verifyAudit(directory)).toMatchObject({ ok: true, torn: 2 });
    // Whatever was noted is not to be changed either.
    putLines(
      directory,
      linesOf(directory).map((line, at) => (at === 5 ? `${line.slice(1)}x` : line)),
    );
    expect(await verifyAudit(directory)).toMatchObject({ ok: false, breaks: [{ line: 6 }] });
  });

  test('a file that is torn from its first byte goes on', async () => {
    const directory = auditDirectory();
    writeFileSync(join(directory, '0-000001.jsonl'), '{"half');
    await fill(directory, 3);
    expect(await verifyAudit(directory)).toMatchObject({ ok: true, lines: 4, torn: 1 });
  });
});

test('the reader never throws and never loops, whatever it is given', async () => {
  const directory = auditDirectory();
  await fill(directory, 4);
  const good = linesOf(directory);
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom(...good).map((line) => Buffer.from(`${line}\n`)),
    fc
      .constantFrom('\n', '{}\n', '[]\n', 'null\n', '{"torn":{}}\n', '\r\n', '\ufeff', '{"lane":0,"seq":1e999}\n')
      .map((text) => Buffer.from(text)),
    fc.json().map((text) => Buffer.from(`${text}\n`)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      writeFileSync(join(directory, '0-000001.jsonl'), Buffer.concat(pieces));
      const found = await verifyAudit(directory);
      expect(found.lines).toBeLessThanOrEqual(pieces.length * 61);
      let read = 0;
      for await (const _ of allLines(directory)) read += 1;
      expect(read).toBeLessThanOrEqual(pieces.length * 61);
    }),
    { numRuns: 300 },
  );
  // Hundreds of megabytes without a newline are read in pieces; a megabyte of newlines is no million notes.
  writeFileSync(join(directory, '0-000001.jsonl'), '\n'.repeat(1 << 20));
  expect((await verifyAudit(directory)).ok).toBe(false);
  writeFileSync(join(directory, '0-000001.jsonl'), Buffer.alloc(20 << 20, 97));
  expect((await verifyAudit(directory)).ok).toBe(false);
});

test('many processes append at once, some are killed, and all of it verifies', async () => {
  const directory = auditDirectory();
  const run = (end: string) => append(directory, '100', end);
  await Promise.all(['close', 'close', 'kill', 'kill', 'close', 'close'].map(run));
  await Promise.all([run('close'), run('kill'), run('close')]);
  const found = await verifyAudit(directory);
  expect({ ...found, heads: [], files: 0 }).toEqual({ ok: true, lines: 900, torn: 0, breaks: [], heads: [], files: 0 });
  // Lanes are taken up again: never more than there were writers at once.
  expect(found.heads.length).toBeLessThanOrEqual(6);
});

test('whoever comes first opens the file, and all of them write to it', async () => {
  const directory = auditDirectory();
  const audit = openHere(directory);
  await Promise.all(
    Array.from({ length: 20 }, async (_, at) => {
      await audit.ready();
      await audit.append(success({ command: `echo ${at}` }));
    }),
  );
  await audit.close();
  expect(readdirSync(directory).filter((name) => name.endsWith('.jsonl'))).toEqual(['0-000001.jsonl']);
  expect(await verifyAudit(directory)).toMatchObject({ ok: true, lines: 20 });
});

describe('an audit that cannot be written', () => {
  test('by permission stops the call with what to do', async () => {
    const directory = auditDirectory();
    writeFileSync(join(directory, 'file'), '');
    const audit = openHere(join(directory, 'file', 'audit'));
    await expect(audit.append(success())).rejects.toThrow(AuditFailed);
    await expect(audit.append(success())).rejects.toMatchObject({
      wayOut: expect.stringContaining('No call is answered') as string,
    });
    await audit.close();
    chmodSync(directory, 0o700);
  });

  test.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)(
    'by a full disk stops calls, loses nothing before, and goes on when there is room',
    async () => {
      const directory = auditDirectory();
      const disk = join(directory, 'disk');
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
      onTestFinished(() => {
        execFileSync('umount', ['--lazy', disk]);
      });
      const audit = openHere(disk, { fsync: 'always' });
      let written = 0;
      const failure = await (async () => {
        for (;;) {
          try {
            await audit.append(success({ command: 'echo and so on '.repeat(40) }));
            written += 1;
          } catch (error) {
            return error;
          }
        }
      })();
      expect(failure).toBeInstanceOf(AuditFailed);
      expect(String(failure)).toContain('ENOSPC');
      await expect(audit.append(success())).rejects.toThrow(AuditFailed);
      const file = join(disk, '0-000001.jsonl');
      const whole = linesOf(disk).length;
      expect(whole).toBe(written);
      execFileSync('mount', ['-o', 'remount,size=1m', disk]);
      await audit.append(success());
      await audit.close();
      const found = await verifyAudit(disk);
      expect(found).toMatchObject({ ok: true, breaks: [] });
      expect(found.lines).toBe(written + 1 + found.torn);
      expect(statSync(file).size).toBeGreaterThan(0);
    },
  );

  test.skipIf(process.platform !== 'linux')('by a device that is always full stops calls', async () => {
    const directory = auditDirectory();
    execFileSync('ln', ['-s', '/dev/full', join(directory, '0-000001.jsonl')]);
    const audit = openHere(directory);
    // A link in the place of a file is not even followed.
    await expect(audit.append(success())).rejects.toThrow(/cannot be written/);
    await audit.close();
  });
});
