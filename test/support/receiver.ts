import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Somebody else's HTTP server, on this machine: the one double there is. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

export async function listen(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  port = 0,
): Promise<Receiver> {
  const server: Server = createServer(answer);
  await new Promise<void>((ready, failed) => {
    server.once('error', failed).listen(port, '127.0.0.1', () => ready());
  });
  const { port: given } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${given}`,
    port: given,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
