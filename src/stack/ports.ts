import { once } from 'node:events';
import { createServer } from 'node:net';
import { Problem, codeOf } from '../problem.ts';

export interface WantedPort {
  readonly port: number;
  /** As in "for Temporal's UI". */
  readonly purpose: string;
  /** The variable that moves it. */
  readonly variable: string;
}

/** Fails while nothing has been started yet if a port cannot be had: a server's own message comes late and names less. */
export async function requireFreePort({ port, purpose, variable }: WantedPort): Promise<void> {
  const server = createServer();
  try {
    server.listen({ port, host: '127.0.0.1', exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    const wayOut = `Stop whatever uses it, or set ${variable} to a free port.`;
    if (codeOf(error) === 'EADDRINUSE') throw new Problem(`Port ${port}, wanted for ${purpose}, is in use`, wayOut);
    if (codeOf(error) === 'EACCES')
      throw new Problem(`Port ${port}, wanted for ${purpose}, may not be used by us`, wayOut);
    throw error;
  } finally {
    server.close();
  }
}
