import { access, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import type { Home } from '../home.ts';
import { startChild, waitUntilReady } from '../stack/child.ts';
import type { Child } from '../stack/child.ts';
import type { StopStep } from '../stack/process.ts';
import { isAtLeast } from './binary.ts';
import type { TemporalBinary } from './binary.ts';
import { SEARCH_ATTRIBUTE_FLAGS } from './register-search-attributes.ts';

const READY_WITHIN_MS = 60_000;
// grpc.health.v1.HealthCheckResponse.ServingStatus
const SERVING = 1;
const SERVICE = 'temporal.api.workflowservice.v1.WorkflowService';

/** Its SQLite file survives any of them: what was acknowledged is in the write-ahead log. */
export const TEMPORAL_STOP: readonly StopStep[] = [
  { signal: 'SIGINT', waitMs: 8_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
];

export interface DevServerOptions {
  readonly home: Home;
  readonly binary: TemporalBinary;
  readonly ports: { readonly temporal: number; readonly ui: number };
  readonly namespace: string;
  /** Called before anything is waited for, so that no child is ever unknown to the guard. */
  readonly onSpawn: (child: Child) => void;
}

/** The part of the command line by which a dev server of ours on this data directory is recognised. */
export function temporalCommandLine(home: Home): string {
  return ` ${dataArguments(home).join(' ')} `;
}

function dataArguments(home: Home): string[] {
  // In WAL, 4 to 7 times the signals of the default journal. A power cut may lose the last moments; a kill nothing.
  const pragmas = ['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=normal'];
  return ['server', 'start-dev', '--db-filename', home.temporalDatabase, ...pragmas];
}

/** Runs Temporal's dev server with its UI on 127.0.0.1, and resolves when both answer. */
export async function startDevServer({ home, binary, ports, namespace, onSpawn }: DevServerOptions): Promise<Child> {
  const finished = await beginFirstStart(home);
  const child = await startChild({
    name: 'Temporal',
    command: binary.path,
    args: [
      ...dataArguments(home),
      ...['--ip', '127.0.0.1', '--port', String(ports.temporal), '--ui-port', String(ports.ui)],
      ...['--namespace', namespace],
      // At launch rather than afterwards: a server takes seconds to notice attributes that are added while it runs.
      ...SEARCH_ATTRIBUTE_FLAGS.flatMap((flag) => ['--search-attribute', flag]),
      ...(isAtLeast(binary.version, [1, 9]) ? ['--ui-disable-news-fetch'] : []),
    ],
    // Empty, so that no profile or TEMPORAL_* variable meant for another server applies.
    env: {},
    logFile: join(home.logs, 'temporal.log'),
    stop: TEMPORAL_STOP,
  });
  onSpawn(child);
  // gRPC waits a second after a refused connection, so it is not asked before something listens.
  await waitUntilReady(child, () => accepts(ports.temporal), READY_WITHIN_MS);
  const connection = Connection.lazy({ address: `127.0.0.1:${ports.temporal}` });
  try {
    await waitUntilReady(child, () => isServing(connection), READY_WITHIN_MS);
  } finally {
    await connection.close();
  }
  await waitUntilReady(child, () => accepts(ports.ui), READY_WITHIN_MS);
  await finished();
  return child;
}

/**
 * The server takes a database file that exists for complete, so one killed while it creates its tables could never
 * start again (seen). Until the first start has been ready a mark lies beside the file, and nobody has used it yet.
 */
async function beginFirstStart({ temporalDatabase }: Home): Promise<() => Promise<void>> {
  const mark = `${temporalDatabase}.unfinished`;
  if (await exists(mark)) {
    for (const suffix of ['', '-wal', '-shm']) await rm(`${temporalDatabase}${suffix}`, { force: true });
  }
  if (await exists(temporalDatabase)) return () => Promise.resolve();
  await writeFile(mark, '');
  return () => rm(mark, { force: true });
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function isServing(connection: Connection): Promise<boolean> {
  try {
    const check = () => connection.healthService.check({ service: SERVICE });
    const answer: { status: number } = await connection.withDeadline(Date.now() + 2_000, check);
    return answer.status === SERVING;
  } catch {
    return false; // Whatever it is, the child's end or the deadline will tell more.
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  const accepted = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  socket.destroy();
  return accepted;
}
