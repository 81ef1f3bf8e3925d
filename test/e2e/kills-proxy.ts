import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** Stands between a client and Postgres and can lose what Postgres answers. */
export interface Proxy {
  readonly port: number;
  /** Of the next `count` flushes Postgres' answer is lost, after it has committed, and the connection with it. */
  dropAcknowledgements(count: number): void;
  /** How many were lost so far. */
  readonly dropped: number;
  /** The same for one flush, and nobody gets through any more until `release`. */
  dropAcknowledgementAndHold(): void;
  release(): void;
  close(): Promise<void>;
}

/** Binding the statement that writes to the ledger, by its name. */
const FLUSH = Buffer.from('\0record\0');

export async function startProxy(postgresPort: number): Promise<Proxy> {
  let [armed, dropped, holds, held] = [0, 0, false, false];
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    if (held) {
      client.destroy();
      return;
    }
    const postgres = connect({ port: postgresPort, host: '127.0.0.1' });
    const cut = () => {
      client.destroy();
      postgres.destroy();
    };
    for (const socket of [client, postgres]) {
      sockets.add(socket);
      socket.on('error', cut).on('close', () => {
        sockets.delete(socket);
        cut();
      });
    }
    let swallowed: Buffer | undefined;
    client.on('data', (bytes: Buffer) => {
      if (armed > 0 && swallowed === undefined && bytes.includes(FLUSH)) {
        armed -= 1;
        swallowed = Buffer.alloc(0);
      }
      postgres.write(bytes);
    });
    postgres.on('data', (bytes: Buffer) => {
      if (swallowed === undefined) {
        client.write(bytes);
        return;
      }
      swallowed = Buffer.concat([swallowed, bytes]);
      // "Ready for query" comes after the commit; the rows of the answer come before it.
      const messages = messagesIn(swallowed);
      if (!messages.includes('Z')) return;
      if (!messages.includes('E')) dropped += 1;
      held = holds;
      cut();
      // Who has another connection open must not get through on that one either.
      if (held) for (const socket of sockets) socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    dropAcknowledgements: (count) => {
      armed = count;
    },
    dropAcknowledgementAndHold: () => {
      [armed, holds] = [1, true];
    },
    get dropped() {
      return dropped;
    },
    release: () => {
      [holds, held] = [false, false];
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The types of the whole messages: one letter, then a length that includes itself. */
function messagesIn(bytes: Buffer): string[] {
  const types: string[] = [];
  for (let at = 0; at + 5 <= bytes.length;) {
    const end = at + 1 + bytes.readInt32BE(at + 1);
    if (end > bytes.length) break;
    types.push(String.fromCharCode(bytes[at] ?? 0));
    at = end;
  }
  return types;
}
