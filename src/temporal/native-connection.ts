// Apart from connection.ts because importing the worker loads its native library, which a client must not need.
import { NativeConnection } from '@temporalio/worker';
import type { TemporalTarget } from './connection.ts';
import { unreachable } from './connection.ts';

/** Connects a worker. A client may share this connection. */
export async function connectWorker({ address, connectionOptions }: TemporalTarget): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(connectionOptions);
  } catch (error) {
    throw unreachable(address, error);
  }
}
