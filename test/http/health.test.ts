import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHealth } from '../../src/http/check-health.ts';
import { createPool } from '../../src/postgres/pool.ts';
import { createInstallation } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';

let installation: Installation;

beforeAll(async () => {
  installation = await createInstallation();
});
afterAll(() => installation.close());

/** Takes connections; `answer` is done to each. */
async function listen(answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    answer(socket);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const targetOf = (address: string) => ({ address, namespace: 'n', connectionOptions: { address } });

test('a database that hangs is down within the deadline, and of the worker nothing can be told', async () => {
  const hung = await listen(() => undefined);
  const pool = createPool(`postgresql://u:p@${hung.address}/d`);
  const health = createHealth(pool, installation.temporal);
  const begun = Date.now();
  expect(await health.check()).toEqual({ postgres: 'down', temporal: 'up', worker: 'unknown' });
  expect(Date.now() - begun).toBeLessThan(4000);
  hung.close();
  await health.close();
  await pool.end();
});

test('closing while checks are under way ends nothing but them, and no new ones begin', async () => {
  const thrown: unknown[] = [];
  const note = (error: unknown) => thrown.push(error);
  process.on('uncaughtException', note);
  const gone = await listen((socket) => socket.destroy());
  const health = createHealth(installation.pool, targetOf(gone.address));
  const checks = Array.from({ length: 6 }, () => health.check());
  await new Promise((done) => setTimeout(done, 300));
  await health.close();
  expect(await Promise.all(checks)).toEqual(checks.map(() => ({ postgres: 'up', temporal: 'down', worker: 'down' })));
  expect(await health.check()).toEqual({ postgres: 'unknown', temporal: 'unknown', worker: 'unknown' });
  await new Promise((done) => setTimeout(done, 2500));
  process.off('uncaughtException', note);
  expect(thrown).toEqual([]);
  gone.close();
});
