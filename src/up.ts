import type { Config } from './config.ts';
import { userInfo } from 'node:os';
import { ensureAdminToken } from './http/admin-token.ts';
import { serveHttp } from './http/serve.ts';
import { createPool } from './postgres/pool.ts';
import { prepare } from './prepare.ts';
import { reasonOf } from './problem.ts';
import { startStack } from './stack/stack.ts';
import type { Stack } from './stack/stack.ts';
import { quietRuntime, startWorker } from './temporal/start-worker.ts';

export interface Up {
  readonly stack: Stack;
  readonly notes: readonly string[];
  /** Where the HTTP API is, and the file with the first admin token. */
  readonly http: { readonly url: string; readonly tokenFile: string };
  /** Settles when the worker ends. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** Everything in one process tree: Postgres, Temporal, the schema, the worker. */
export async function bringUp(
  config: Config,
  {
    progress,
    adopt,
    onTrouble,
    onChildExit = onTrouble,
  }: {
    progress: (message: string) => void;
    adopt: boolean;
    onTrouble: (message: string) => void;
    /** Told when a server has ended although nobody stopped it, with what it wrote last. */
    onChildExit?: (message: string) => void;
  },
): Promise<Up> {
  const stack = await startStack(config, {
    progress,
    onChildExit: (name, how, lines) => onChildExit(`${name} ended (${how})\n${lines.join('\n')}`),
  });
  try {
    const { databaseUrl, temporal } = stack;
    const notes = await prepare(databaseUrl, temporal, adopt);
    // Only now: once installed, the SDK's runtime keeps the process alive until a worker has run and ended.
    quietRuntime(onTrouble);
    const worker = await startWorker({
      databaseUrl,
      temporal,
      taskQueue: config.taskQueue,
      publicUrl: config.publicUrl,
      log: onTrouble,
    });
    const http = await offerHttp(config, stack, onTrouble).catch(async (error: unknown) => {
      await worker.stop();
      throw error;
    });
    const stop = async () => {
      await http.close();
      // A worker whose server is gone may fail to stop; what we started is stopped all the same.
      await worker.stop().catch((error: unknown) => onTrouble(`the worker did not stop cleanly: ${reasonOf(error)}`));
      await stack.stop();
    };
    return { stack, notes: [...stack.notes, ...notes], http, ended: worker.ended, stop };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

async function offerHttp(
  config: Config,
  { databaseUrl, home, temporal, uiUrl = config.uiUrl }: Stack,
  log: (message: string) => void,
) {
  const pool = createPool(databaseUrl, { max: 1 });
  const tokenFile = home.adminToken;
  await ensureAdminToken(pool, tokenFile, userInfo().username).finally(() => pool.end());
  const temporalUi = uiUrl === undefined ? undefined : { url: uiUrl, namespace: temporal.namespace };
  return { ...(await serveHttp({ databaseUrl, temporal, ...config.http, temporalUi, log })), tokenFile };
}
