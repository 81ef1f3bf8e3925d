import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync, brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { outbound, OutboundFailed, OutboundRefused, requireTarget } from '../../src/execution/outbound.ts';
import type { Address, OutboundOptions } from '../../src/execution/outbound.ts';
import { listen } from '../support/receiver.ts';
import type { Receiver } from '../support/receiver.ts';

let receiver: Receiver;
let requests: { url: string | undefined; headers: IncomingMessage['headers']; body: string }[] = [];

const ANSWERS: Record<string, (response: ServerResponse) => void> = {
  '/ok': (response) => response.end('fine'),
  '/redirect': (response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  '/gzip': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed')),
  '/br': (response) => response.writeHead(200, { 'content-encoding': 'br' }).end(brotliCompressSync('packed')),
  '/bomb': (response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(200_000_000))),
  '/torn': (response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed').subarray(0, 12)),
  '/odd': (response) => response.writeHead(200, { 'content-encoding': 'compress' }).end('x'),
  '/hang': () => undefined,
  '/drip': (response) => {
    const drip = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(drip));
  },
  '/endless': (response) => {
    const block = Buffer.alloc(65_536, 'x');
    const more = () => {
      while (!response.destroyed && response.write(block));
    };
    response.on('drain', more);
    more();
  },
  '/cut': (response) => {
    response.writeHead(200, { 'content-length': '100' }).write('half');
    setTimeout(() => response.destroy(), 20);
  },
};

beforeAll(async () => {
  receiver = await listen((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      requests.push({ url: request.url, headers: request.headers, body });
      ANSWERS[request.url ?? '']?.(response);
    });
  });
});
afterAll(() => receiver.close());

const trusted: OutboundOptions = { timeoutMs: 5000, mostBytes: 1000, allowPrivate: true };
const guarded: OutboundOptions = { timeoutMs: 5000, mostBytes: 1000 };
const at = (path: string) => `${receiver.url}${path}`;
const resolvesTo =
  (...addresses: string[]) =>
  (): Promise<Address[]> =>
    Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));

describe('what is refused', () => {
  test('goes nowhere: a private address, by number or by name', async () => {
    requests = [];
    await expect(outbound(at('/ok'), guarded)).rejects.toThrow(OutboundRefused);
    await expect(outbound(`http://localhost:${receiver.port}/ok`, guarded)).rejects.toThrow(
      /localhost leads to (127\.0\.0\.1|::1): .* is a loopback address/,
    );
    expect(requests).toEqual([]);
  });

  test.each([
    '10.1.2.3',
    '169.254.169.254',
    '100.64.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
  ])('a name that resolves to %s', async (address) => {
    const resolve = resolvesTo(address);
    await expect(outbound('http://evil.example/', { ...guarded, resolve })).rejects.toThrow(`leads to ${address}`);
    await expect(requireTarget('http://evil.example/', { resolve })).rejects.toThrow(OutboundRefused);
  });

  test('a name with one private address among public ones', async () => {
    const resolve = resolvesTo('93.184.216.34', '10.0.0.1');
    await expect(outbound('http://evil.example/', { ...guarded, resolve })).rejects.toThrow('leads to 10.0.0.1');
  });

  test('a name that is rebound: what was judged is what is connected to, by one resolution', async () => {
    requests = [];
    let asked = 0;
    // Public when asked first, and the receiver on loopback ever after.
    const resolve = () => Promise.resolve([{ address: asked++ === 0 ? '192.0.2.1' : '127.0.0.1', family: 4 }]);
    const options = { ...guarded, resolve, timeoutMs: 500 };
    const target = `http://rebound.example:${receiver.port}/ok`;
    await expect(outbound(target, { ...options, allowPrivate: true })).rejects.toThrow(OutboundFailed);
    expect(asked).toBe(1);
    await expect(outbound(target, options)).rejects.toThrow('leads to 127.0.0.1');
    expect(requests).toEqual([]);
  });

  test('is refused by `requireTarget` too, which goes nowhere', async () => {
    await expect(requireTarget('http://127.0.0.1/')).rejects.toThrow('127.0.0.1 is a loopback address');
    await expect(requireTarget('ftp://example.com/')).rejects.toThrow(OutboundRefused);
    await expect(requireTarget('http://nowhere.example/', { resolve: resolvesTo() })).rejects.toThrow(OutboundFailed);
    await requireTarget('http://somewhere.example/', { resolve: resolvesTo('93.184.216.34') });
    await requireTarget('http://127.0.0.1/', { allowPrivate: true });
  });
});

describe('an answer', () => {
  test('comes with status, headers and body; names are kept for the other side', async () => {
    requests = [];
    const target = `http://named.example:${receiver.port}/ok`;
    const options = { ...trusted, resolve: resolvesTo('127.0.0.1'), method: 'POST', body: 'é' } as const;
    const answer = await outbound(target, { ...options, headers: { 'x-mine': '1' } });
    expect(answer).toMatchObject({ status: 200, truncated: false });
    expect(answer.body.toString()).toBe('fine');
    expect(requests[0]).toMatchObject({
      body: 'é',
      headers: { host: `named.example:${receiver.port}`, 'x-mine': '1' },
    });
  });

  test('that redirects is not followed', async () => {
    expect(await outbound(at('/redirect'), trusted)).toMatchObject({ status: 302 });
  });

  test.each(['/gzip', '/br'])('%s is unpacked', async (path) => {
    expect((await outbound(at(path), trusted)).body.toString()).toBe('packed');
  });

  test('without end is read up to the limit, and so is one that unpacks to 200 MB', async () => {
    for (const path of ['/endless', '/bomb']) {
      const { body, truncated } = await outbound(at(path), trusted);
      expect(body).toHaveLength(1000);
      expect(truncated).toBe(true);
    }
  });

  test('of exactly the limit is whole', async () => {
    expect(await outbound(at('/ok'), { ...trusted, mostBytes: 4 })).toMatchObject({ truncated: false });
    expect(await outbound(at('/ok'), { ...trusted, mostBytes: 3 })).toMatchObject({ truncated: true });
  });

  test.each(['/hang', '/drip'])('that never ends (%s) is given up in time', async (path) => {
    const started = Date.now();
    await expect(outbound(at(path), { ...trusted, timeoutMs: 299.97485 })).rejects.toThrow(
      'did not finish within 300 ms',
    );
    expect(Date.now() - started).toBeLessThan(2000);
  });

  test.each(['/cut', '/torn', '/odd'])('that cannot be read (%s) is a failure', async (path) => {
    await expect(outbound(at(path), trusted)).rejects.toThrow(OutboundFailed);
  });

  test('of nobody is a failure that says why', async () => {
    const gone = await listen(() => undefined);
    await gone.close();
    await expect(outbound(gone.url, trusted)).rejects.toThrow('ECONNREFUSED');
    const hanging = { ...trusted, resolve: () => new Promise<Address[]>(() => undefined), timeoutMs: 200 };
    await expect(outbound('http://slow-dns.example/', hanging)).rejects.toThrow('did not finish');
  });
});
