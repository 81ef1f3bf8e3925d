import type { IncomingMessage, ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { eventually } from './installation.ts';
import { listen } from './receiver.ts';

export interface Received {
  readonly path: string;
  readonly id: string;
  readonly body: string;
  readonly headers: Record<string, string>;
}

export interface Message {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Somebody's webhook receiver. It keeps everything it was sent and answers 204, unless told otherwise. */
export async function startReceiver(port = 0) {
  const received: Received[] = [];
  let answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) =>
    response.writeHead(204).end();
  const server = await listen((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      received.push({ path: request.url ?? '', id: headers['webhook-id'] ?? '', body, headers });
      answer(request, response);
    });
  }, port);
  return {
    ...server,
    received,
    answers: (next: typeof answer) => {
      answer = next;
    },
    /** Everything that came to a path, verified with the library that receivers use. */
    verified: (path: string, secret: string): Message[] =>
      received
        .filter((one) => one.path === path)
        .map(({ body, headers }) => new Webhook(secret).verify(body, headers) as Message),
    until: (path: string, count: number, withinMs = 20_000): Promise<Received[]> =>
      eventually(() => {
        const found = received.filter((one) => one.path === path);
        expect(found.length, `${count} messages to ${path}`).toBeGreaterThanOrEqual(count);
        return found;
      }, withinMs),
  };
}
