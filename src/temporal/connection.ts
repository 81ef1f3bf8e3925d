import { existsSync } from 'node:fs';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import { Problem, reasonOf } from '../problem.ts';

/** Which Temporal server and namespace to use, for clients and workers alike. */
export interface TemporalTarget {
  readonly address: string;
  readonly namespace: string;
  readonly connectionOptions: ClientConnectConfig['connectionOptions'];
}

const CONNECT_WITHIN_MS = 5_000;
const DEFAULT_NAMESPACE = 'default';

/** The server that the standard `TEMPORAL_*` variables name: address, namespace, API key, TLS, or a profile file. */
export function targetFromEnvironment(env: Readonly<Record<string, string>>): TemporalTarget {
  const file = env['TEMPORAL_CONFIG_FILE'];
  // Temporal's reader takes a missing file for an empty one, and would go to localhost.
  if (file !== undefined && !existsSync(file)) {
    throw new Problem(
      `TEMPORAL_CONFIG_FILE is ${JSON.stringify(file)}: there is no such file`,
      'Correct it or unset it.',
    );
  }
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: { ...env } });
    const address = connectionOptions.address ?? 'localhost:7233';
    return { address, namespace: namespace ?? DEFAULT_NAMESPACE, connectionOptions: { ...connectionOptions, address } };
  } catch (error) {
    throw new Problem(
      `The TEMPORAL_* variables cannot be used: ${reasonOf(error)}`,
      'See https://docs.temporal.io/develop/environment-configuration for what they may be.',
      { cause: error },
    );
  }
}

/** The dev server of our own. Profile files and TLS settings for other servers do not apply to it; the namespace does. */
export function localTarget(port: number, env: Readonly<Record<string, string>>): TemporalTarget {
  const address = `127.0.0.1:${port}`;
  return { address, namespace: env['TEMPORAL_NAMESPACE'] ?? DEFAULT_NAMESPACE, connectionOptions: { address } };
}

/** Connects a client, or says within seconds which server does not answer. */
export async function connectTemporal({ address, connectionOptions }: TemporalTarget): Promise<Connection> {
  try {
    return await Connection.connect({ ...connectionOptions, connectTimeout: CONNECT_WITHIN_MS });
  } catch (error) {
    throw unreachable(address, error);
  }
}

export function unreachable(address: string, error: unknown): Problem {
  return new Problem(
    `Temporal at ${address} cannot be reached: ${reasonOf(error)}`,
    'Check TEMPORAL_ADDRESS, and TEMPORAL_TLS and TEMPORAL_API_KEY if it needs them; unset them all to use a server of our own.',
    { cause: error },
  );
}
