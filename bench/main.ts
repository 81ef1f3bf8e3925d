import { spawn } from 'node:child_process';
import { loadavg } from 'node:os';
import { printTable } from './print.ts';
import { startStack } from './stack.ts';
import type { Bench } from './benches.ts';
import { BENCHES } from './benches.ts';
import type { Row } from './measure.ts';

const FLAGS = new Set(['--json', '--help']);

/** `npm run bench [-- name …] [--json]`: measures side by side, in one run; fails where a budget is missed. */
async function main(): Promise<number> {
  const asked = process.argv.slice(2);
  const json = asked.includes('--json');
  const names = asked.filter((name) => !name.startsWith('--'));
  const unknown = asked.filter((word) => !Object.hasOwn(BENCHES, word) && !FLAGS.has(word));
  if (unknown.length > 0 || asked.includes('--help')) {
    for (const word of unknown) console.error(`there is no bench and no option ${JSON.stringify(word)}`);
    console.error(`npm run -s bench -- [${Object.keys(BENCHES).join('|')} …] [--json]`);
    return unknown.length > 0 ? 2 : 0;
  }
  const wanted = Object.entries(BENCHES).filter(([name]) => names.length === 0 || names.includes(name));
  const all: Row[] = [];
  const failed: string[] = [];
  console.error(
    `load ${(loadavg()[0] ?? 0).toFixed(2)} on ${process.platform} ${process.arch}, Node ${process.version}`,
  );
  for (const [name, bench] of wanted) {
    console.error(`${name} …`);
    const rows = wanted.length === 1 ? await runBench(bench) : await runApart(name).catch(complain);
    if (rows === undefined) {
      failed.push(name);
      continue;
    }
    if (json) for (const row of rows) console.log(JSON.stringify(row));
    all.push(...rows);
  }
  if (!json) printTable(all);
  const missed = all.filter(({ ok }) => !ok);
  console.error(`load ${(loadavg()[0] ?? 0).toFixed(2)}; ${all.length} measured, ${missed.length} over budget`);
  for (const { name } of missed) console.error(`over budget: ${name}`);
  for (const name of failed) console.error(`not measured: ${name}`);
  if (failed.length > 0) return 2;
  return missed.length === 0 ? 0 : 1;
}

/** One that cannot be measured takes nothing from the others. */
function complain(error: unknown): undefined {
  console.error(error instanceof Error ? error.message : error);
}

/** In a process of its own: what one bench has compiled, filled or set is nothing to the next. */
async function runApart(name: string): Promise<readonly Row[]> {
  const [program = ''] = process.argv.slice(1);
  const child = spawn(process.execPath, [...process.execArgv, program, name, '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [text, complaints] = ['', ''];
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const code = await new Promise((done) => child.once('close', done));
  const rows = text.split('\n').filter((line) => line !== '');
  // 1: it has measured, and a budget is missed.
  if (rows.length === 0 || (code !== 0 && code !== 1)) throw new Error(`the bench ${name} failed:\n${complaints}`);
  return rows.map((line) => JSON.parse(line) as Row);
}

/** On a stack of its own, so that no bench pays for what another has left behind. */
async function runBench({ run, needsStack }: Bench): Promise<readonly Row[]> {
  if (!needsStack) return run();
  const stack = await startStack();
  let now = stack;
  try {
    return await run(stack, (next) => (now = next));
  } finally {
    await now.stop();
  }
}

process.exitCode = await main();
