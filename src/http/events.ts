import { createRoute, z } from '@hono/zod-openapi';
import { streamSSE } from 'hono/streaming';
import type { SSEStreamingApi } from 'hono/streaming';
import { createWaker } from '../pause.ts';
import type { Announcement, Announcements } from './announcements.ts';
import type { Api } from './app.ts';
import { allow } from './identity.ts';
import { HttpProblem } from './problem.ts';

const HEARTBEAT_MS = 10_000;
/** Whoever is further behind reads everything anew. */
const MOST_WAITING = 1000;
/** Of one token here: each keeps a connection and a buffer for as long as it likes. */
const MOST_STREAMS = 200;

/** What to look at, as it happens. Which of it somebody may see is decided when they look. */
export function eventRoutes(app: Api, { announcements }: { readonly announcements: Announcements }): void {
  const streams = new Map<string, number>();
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/events',
      summary: 'Server-sent events: `changed` names what to look at, `resync` says to look at everything',
      description:
        'The data of `changed` is `trust:<subject>`, `grants:<subject>`, `approval:<id>` or `settings`. Send `Last-Event-ID` ' +
        'to be told what came meanwhile; where that is no longer known the first event is `resync`, otherwise `hello`. `ping` comes every ten ' +
        'seconds: without it nobody is there.',
      middleware: [allow('agent', 'approver', 'operator')] as const,
      request: { headers: z.object({ 'last-event-id': z.string().max(100).optional() }) },
      responses: {
        200: { description: 'a stream', content: { 'text/event-stream': { schema: z.string() } } },
      },
    }),
    (c) => {
      const lastId = c.req.valid('header')['last-event-id'];
      const isStillKnown = c.get('isStillKnown');
      const { id } = c.get('token');
      const open = streams.get(id) ?? 0;
      if (open >= MOST_STREAMS) throw tooMany();
      streams.set(id, open + 1);
      c.header('x-accel-buffering', 'no');
      return streamSSE(c, async (stream) => {
        try {
          await tell(stream, announcements, lastId, isStillKnown);
        } finally {
          const left = (streams.get(id) ?? 1) - 1;
          if (left === 0) streams.delete(id);
          else streams.set(id, left);
        }
      });
    },
  );
}

function tooMany(): HttpProblem {
  return new HttpProblem(429, 'Too many streams', `At most ${MOST_STREAMS} at once for one token; close one first.`, {
    retryAfter: HEARTBEAT_MS / 1000,
  });
}

async function tell(
  stream: SSEStreamingApi,
  announcements: Announcements,
  lastId: string | undefined,
  isStillKnown: () => Promise<boolean>,
): Promise<void> {
  const waiting: (Announcement | undefined)[] = [];
  const waker = createWaker();
  const over = new AbortController();
  stream.onAbort(() => over.abort());
  const stop = announcements.subscribe((announcement) => {
    // What is thrown away, like what was never heard, is made up for by looking at everything.
    if (waiting.length >= MOST_WAITING) waiting.splice(0, waiting.length, undefined);
    else waiting.push(announcement);
    waker.wake();
  });
  try {
    const missed = lastId === undefined ? [] : announcements.since(lastId);
    if (missed === undefined) await resync(stream, announcements);
    else await stream.writeSSE({ event: 'hello', id: lastId ?? announcements.latest, data: '' });
    waiting.unshift(...(missed ?? []));
    for (let pingedAt = Date.now(); !over.signal.aborted;) {
      for (const announcement of waiting.splice(0)) {
        if (announcement === undefined) await resync(stream, announcements);
        else await stream.writeSSE({ event: 'changed', id: announcement.id, data: announcement.what });
      }
      if (Date.now() - pingedAt >= HEARTBEAT_MS) {
        if (!(await isStillKnown())) return;
        await stream.writeSSE({ event: 'ping', data: '' });
        pingedAt = Date.now();
      }
      await waker.sleep(Math.max(0, pingedAt + HEARTBEAT_MS - Date.now()), over.signal);
    }
  } finally {
    stop();
  }
}

async function resync(stream: SSEStreamingApi, { latest }: Announcements): Promise<void> {
  await stream.writeSSE({ event: 'resync', id: latest, data: '' });
}
