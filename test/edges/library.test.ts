import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

function evaluate(program: string): string {
  return execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
}

test('importing the library by its name loads nothing of Temporal', () => {
  const loaded = evaluate(`
    import { createRequire } from 'node:module';
    import { connect } from 'surety';
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    console.log(JSON.stringify({ connect: typeof connect, pg: loaded.some((path) => path.includes('/pg/')), temporal: loaded.filter((path) => path.includes('@temporalio')) }));
  `);
  expect(JSON.parse(loaded)).toEqual({ connect: 'function', pg: true, temporal: [] });
});

test('the same look finds Temporal where it is loaded', () => {
  const loaded = evaluate(`
    import { createRequire } from 'node:module';
    import '@temporalio/common';
    console.log(Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('@temporalio')));
  `);
  expect(loaded.trim()).toBe('true');
});

test('a command that needs no Temporal does not load it', () => {
  const loaded = evaluate(`
    import { createRequire } from 'node:module';
    process.on('exit', () => console.log(Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes('@temporalio')).length));
    process.argv = [process.execPath, 'surety', '--version'];
    await import('./dist/src/cli/main.js');
  `);
  expect(loaded.trim().split('\n').at(-1)).toBe('0');
});
