import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { openSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { pauseUnless, settledUnless } from '../../pause.ts';
import type { RunContext } from '../call.ts';
import { KillSwitchThrown } from '../kill-switch-thrown.ts';
import { confine } from '../sandbox.ts';
import type { Confinement, Sandbox } from '../sandbox.ts';
import { bashLine } from './bash.ts';
import { textOf } from './envelope.ts';
import type { ShellEnvelope } from './envelope.ts';
import { HeadAndTail } from './head-and-tail.ts';
import { endAll, MARK, signalGroup, tellToEnd } from './processes.ts';

export interface ShellCommand {
  readonly command: string;
  /** Where bash lies. */
  readonly bash: string;
  /** A real directory; whoever calls has seen that it lies within a root. */
  readonly cwd: string;
  /** Already without secrets and without what would change the meaning of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** What the command reads; without it there is nothing to read. */
  readonly input?: string | Uint8Array;
  readonly stopped?: AbortSignal;
  /** Told of output as it comes. While its promise is pending the command is not read from. */
  readonly onOutput?: RunContext['onOutput'];
  readonly sandbox: Sandbox;
  readonly confinement: Confinement;
}

/** As timeout(1) has it. */
const TIMED_OUT = 124;
/** Whoever is told of output gets so much at once. */
const PART_BYTES = 16_384;
/** What we were started with open would be open in the command as well: files and pipes that no rule has looked at. */
const NOTHING_INHERITED: readonly number[] = Array<number>(Math.max(0, mostInherited() - 2)).fill(
  openSync('/dev/null', 'r'),
);

function mostInherited(): number {
  try {
    return Math.max(...readdirSync('/proc/self/fd').map(Number));
  } catch {
    return 2; // Not on Linux.
  }
}

/** How long a command may take to end after it was told to. */
const GRACE_MS = 2000;
const SHORT_GRACE_MS = 200;
/** How long what the shell has left behind may still write after the shell's own end. */
const LINGER_MS = 100;

/**
 * Runs a command in a session and group of its own and waits for its end. When its shell is over the call is over: what it
 * left in the background is ended, too, so that no call leaves a process behind.
 */
export async function runShell(command: ShellCommand): Promise<ShellEnvelope> {
  const { cwd, env, input, stopped, maxOutputBytes, sandbox } = command;
  const started = performance.now();
  const mark = randomUUID();
  const [program, ...args] = confine(sandbox, command.confinement, cwd, bashLine(command.bash, command.command));
  const child = spawn(program, args, {
    cwd,
    env: { ...env, [MARK]: mark },
    detached: true,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...NOTHING_INHERITED],
  });
  // Rejects where there is no such program or directory: nothing has run then.
  await once(child, 'spawn');
  const group = child.pid ?? 0;
  // A command that does not read what it is given is no failure.
  child.stdin?.on('error', () => undefined).end(input);
  const kept = { stdout: new HeadAndTail(maxOutputBytes), stderr: new HeadAndTail(maxOutputBytes) };
  const over = new AbortController();
  const listener = new Listener(over.signal, command.onOutput);
  const streams = [
    keep(child.stdout, (chunk) => (kept.stdout.push(chunk), listener.tell('stdout', chunk))),
    keep(child.stderr, (chunk) => (kept.stderr.push(chunk), listener.tell('stderr', chunk))),
  ];
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const end = await endedBy(exited, command.timeoutMs, stopped);
  if (end !== 'itself') {
    await tellToEnd(group, mark, sandbox.kind === 'bubblewrap');
    await pauseUnless(exited, stopped?.reason instanceof KillSwitchThrown ? SHORT_GRACE_MS : GRACE_MS);
    signalGroup(group, 'SIGKILL');
    over.abort();
  }
  const [code, signal] = await exited;
  const drained = Promise.all(streams);
  if (end === 'itself') await pauseUnless(drained, LINGER_MS);
  const leftBehind = await endAll(group, mark);
  let isCut = false;
  while (!(await pauseUnless(drained, GRACE_MS))) {
    if (end === 'itself' && listener.isBusy && performance.now() - listener.tookAt < command.timeoutMs) continue;
    // Whoever holds the other end now is not found, or not to be ended; nothing more is expected of it.
    isCut = listener.isBusy;
    over.abort();
    child.stdout?.destroy();
    child.stderr?.destroy();
    await drained;
    break;
  }
  const [stdout, stderr] = [textOf(kept.stdout), textOf(kept.stderr)];
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    exitCode: end === 'time' ? TIMED_OUT : (code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    signal,
    timedOut: end === 'time',
    cancelled: end === 'caller',
    truncated: isCut || kept.stdout.omitted + kept.stderr.omitted > 0,
    unread: isCut,
    durationMs: Math.round(performance.now() - started),
    encoding: { stdout: stdout.encoding, stderr: stderr.encoding },
    bytes: { stdout: kept.stdout.total, stderr: kept.stderr.total },
    sandbox: sandbox.kind,
    leftBehind: end === 'itself' ? leftBehind : 0,
  };
}

async function endedBy(
  exited: Promise<unknown>,
  timeoutMs: number,
  stopped: AbortSignal | undefined,
): Promise<'itself' | 'time' | 'caller'> {
  if (await pauseUnless(exited, timeoutMs, stopped)) return 'itself';
  return stopped?.aborted === true ? 'caller' : 'time';
}

/**
 * Whoever is told of output is waited for, so that it sets the pace, as long as it goes on: a reader that has taken nothing for as long as
 * the command might have run keeps no call from its end, and what it has not taken is said to be cut. One that fails is told no more; that is not the command's fault.
 */
class Listener {
  readonly #over: AbortSignal;
  #onOutput: ShellCommand['onOutput'];
  #waiting = 0;
  /** When it last took something. */
  tookAt = performance.now();

  constructor(over: AbortSignal, onOutput: ShellCommand['onOutput']) {
    this.#over = over;
    this.#onOutput = onOutput;
  }

  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  async tell(stream: 'stdout' | 'stderr', chunk: Buffer): Promise<void> {
    const onOutput = this.#onOutput;
    if (onOutput === undefined || this.#over.aborted) return;
    this.#waiting += 1;
    try {
      // In small parts: a slow reader is seen to go on.
      for (let at = 0; at < chunk.length; at += PART_BYTES) {
        const told = Promise.resolve(onOutput(stream, chunk.subarray(at, at + PART_BYTES)));
        if (!(await settledUnless(told, this.#over))) return;
        this.tookAt = performance.now();
      }
    } catch {
      this.#onOutput = undefined;
    } finally {
      this.#waiting -= 1;
    }
  }
}

/** Reads a stream to its end, no faster than `take` can. */
async function keep(stream: Readable | null, take: (chunk: Buffer) => void | Promise<void>): Promise<void> {
  if (stream === null) return;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const taken = take(chunk);
      if (taken !== undefined) await taken;
    }
  } catch (error) {
    // Closed by us, because nobody is left who would end it.
    if (!stream.destroyed) throw error;
  }
}
