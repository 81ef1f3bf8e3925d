import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { widthOf } from '../../src/cli/text.ts';

const MAIN = resolve('dist/src/cli/main.js');

/** A directory without a surety.json, for commands that would read one. */
export const NOWHERE = mkdtempSync(join(tmpdir(), 'surety-cli-'));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
}

/** Starts the built command line in an environment of its own: neither ours nor the developer's leaks in. */
export function startCli(args: readonly string[], { env = {}, cwd = NOWHERE }: CliOptions = {}) {
  const environment = { PATH: process.env['PATH'] ?? '', HOME: NOWHERE, SURETY_HOME: join(NOWHERE, 'home'), ...env };
  return spawn(process.execPath, [MAIN, ...args], { cwd, env: environment });
}

export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<Ran> {
  const child = startCli(args, options);
  // A command that ends before it has read everything is not what is tested here.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  return outcomeOf(child);
}

/** Runs a command whose reader has had enough before the first line. */
export async function runUnread(args: readonly string[], options: CliOptions = {}): Promise<Omit<Ran, 'stdout'>> {
  const child = startCli(args, options);
  child.stdin.end();
  child.stdout.destroy();
  const { code, stderr } = await outcomeOf(child);
  return { code, stderr };
}

/** Runs a command and takes its standard output for JSON. */
export async function jsonOf(args: readonly string[], options: CliOptions = {}): Promise<unknown> {
  const { code, stdout, stderr } = await runCli([...args, '--json'], options);
  if (stdout === '') throw new Error(`surety ${args.join(' ')}: exit code ${String(code)}\n${stderr}`);
  return JSON.parse(stdout);
}

export function outcomeOf(child: ChildProcessWithoutNullStreams): Promise<Ran> {
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((done) => child.once('close', (code) => done({ code, stdout, stderr })));
}

/** The longest line, in columns: what decides whether output fits a terminal. URLs cannot be broken. */
export function widest(text: string): number {
  const lines = text.split('\n').filter((line) => !line.includes('http://'));
  return Math.max(...lines.map(widthOf));
}
