import type { Config } from '../config.ts';
import { openHome } from '../home.ts';
import type { Home } from '../home.ts';
import { startPostgres } from '../postgres/embedded.ts';
import { findTemporal } from '../temporal/binary.ts';
import { connectTemporal, localTarget, targetFromEnvironment } from '../temporal/connection.ts';
import type { TemporalTarget } from '../temporal/connection.ts';
import { startDevServer } from '../temporal/dev-server.ts';
import { prepareNamespace } from '../temporal/namespace.ts';
import type { Child } from './child.ts';
import { acquireLock } from './lock.ts';
import { endOrphans } from './orphans.ts';
import { requireFreePort } from './ports.ts';
import { requireDatabase } from './require-database.ts';
import { removeStack, writeStack } from './stack-file.ts';
import { startGuard } from './start-guard.ts';

/** Postgres and Temporal, ready to be used: our own or those the environment names. */
export interface Stack {
  readonly home: Home;
  readonly databaseUrl: string;
  readonly temporal: TemporalTarget;
  /** Where Temporal's own page is, if the server is ours. */
  readonly uiUrl: string | undefined;
  /** What an operator should know about servers that are not ours. */
  readonly notes: readonly string[];
  /** Stops what we started, Temporal first. The worker is the caller's, and must have stopped before. */
  stop(): Promise<void>;
}

export interface StackOptions {
  /** Told what is going on while there is something to wait for. */
  readonly progress?: (message: string) => void;
  /** Told when a server ends although nobody stopped it; the rest keeps running until `stop`. */
  readonly onChildExit?: (name: string, how: string, lastLogLines: readonly string[]) => void;
}

/** Brings everything up that Surety needs on this data directory, or nothing and a Problem. */
export async function startStack(
  config: Config,
  { progress = () => undefined, onChildExit }: StackOptions = {},
): Promise<Stack> {
  const home = await openHome(config.home);
  const lock = await acquireLock(home);
  try {
    await endOrphans(home, progress);
    await requireFreePorts(config);
  } catch (error) {
    await lock.release();
    throw error;
  }
  const guard = startsNothing(config) ? undefined : startGuard();
  const children: Child[] = [];
  let phase: 'starting' | 'running' | 'stopping' = 'starting';

  const onSpawn = (child: Child): void => {
    children.push(child);
    guard?.watch(child);
    void child.exited.then(async (how) => {
      guard?.forget(child);
      if (phase === 'running') onChildExit?.(child.name, how, await child.lastLogLines());
    });
  };
  const stop = async (): Promise<void> => {
    phase = 'stopping';
    await removeStack(home);
    for (const name of ['Temporal', 'Postgres']) await children.find((child) => child.name === name)?.stop();
    await guard?.close();
    await lock.release();
  };

  try {
    // Both are waited for even when one fails: a server that is still coming up cannot be stopped in order.
    const [database, temporal] = await Promise.allSettled([
      bringUpPostgres(config, home, progress, onSpawn),
      bringUpTemporal(config, home, progress, onSpawn),
    ]);
    if (database.status === 'rejected') throw database.reason;
    if (temporal.status === 'rejected') throw temporal.reason;
    const databaseUrl = database.value;
    const { target, notes } = temporal.value;
    const uiUrl = config.temporal.external ? undefined : `http://127.0.0.1:${config.ports.ui}`;
    await writeStack(home, { databaseUrl, temporalAddress: target.address, namespace: target.namespace, uiUrl });
    phase = 'running';
    let stopped: Promise<void> | undefined;
    return { home, databaseUrl, temporal: target, uiUrl, notes, stop: () => (stopped ??= stop()) };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startsNothing({ databaseUrl, temporal }: Config): boolean {
  return databaseUrl !== undefined && temporal.external;
}

async function requireFreePorts({ ports, databaseUrl, temporal }: Config): Promise<void> {
  if (databaseUrl === undefined) {
    await requireFreePort({ port: ports.postgres, purpose: 'Postgres', variable: 'SURETY_POSTGRES_PORT' });
  }
  if (temporal.external) return;
  await requireFreePort({ port: ports.temporal, purpose: 'Temporal', variable: 'SURETY_TEMPORAL_PORT' });
  await requireFreePort({ port: ports.ui, purpose: "Temporal's UI", variable: 'SURETY_UI_PORT' });
}

type Progress = (message: string) => void;
type OnSpawn = (child: Child) => void;

async function bringUpPostgres(config: Config, home: Home, progress: Progress, onSpawn: OnSpawn): Promise<string> {
  if (config.databaseUrl !== undefined) {
    await requireDatabase(config.databaseUrl);
    return config.databaseUrl;
  }
  return (await startPostgres({ home, port: config.ports.postgres, progress, onSpawn })).url;
}

async function bringUpTemporal(
  config: Config,
  home: Home,
  progress: Progress,
  onSpawn: OnSpawn,
): Promise<{ target: TemporalTarget; notes: string[] }> {
  const { external, env } = config.temporal;
  const target = external ? targetFromEnvironment(env) : localTarget(config.ports.temporal, env);
  if (!external) {
    const binary = await findTemporal({ searchPath: config.searchPath, cache: config.cache ?? home.bin }, progress);
    await startDevServer({ home, binary, ports: config.ports, namespace: target.namespace, onSpawn });
  }
  const connection = await connectTemporal(target);
  try {
    return { target, notes: await prepareNamespace(connection, target, !external) };
  } finally {
    await connection.close();
  }
}
