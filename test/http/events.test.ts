import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { serveHttp } from '../../src/http/serve.ts';
import { createToken, revokeToken } from '../../src/postgres/tokens.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { fail, keyOf, untilStatus } from '../workflow/support.ts';

let installation: Installation;
let gate: Gate;
let api: Awaited<ReturnType<typeof serveHttp>>;
let secret: string;

beforeAll(async () => {
  installation = await createInstallation();
  await installation.startWorker();
  gate = await installation.connect();
  ({ secret } = await createToken(installation.pool, {
    name: 'eve',
    owner: 'eve',
    roles: ['approver'],
    createdBy: 't',
  }));
  api = await serveHttp({ databaseUrl: installation.databaseUrl, host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await api.close();
  await installation.close();
});

async function follow(lastEventId?: string): Promise<EventSourceMessage[]> {
  const events: EventSourceMessage[] = [];
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const response = await fetch(`${api.url}/v1/events`, {
    headers: {
      authorization: `Bearer ${secret}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal: leaving.signal,
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const read = async () => {
    for await (const bytes of response.body ?? []) parser.feed(Buffer.from(bytes).toString());
  };
  read().catch(() => undefined);
  await eventually(() => expect(events.length).toBeGreaterThan(0));
  return events;
}

async function escalate(tool: string): Promise<string> {
  await fail(gate, tool, 3);
  await untilStatus(installation, keyOf(tool), 'ESCALATED');
  const found = await installation.pool.query<{ id: number }>('select id from subject where key = $1', [keyOf(tool)]);
  return `trust:${found.rows[0]?.id}`;
}

const changes = (events: readonly EventSourceMessage[]) =>
  events.filter(({ event }) => event === 'changed').map(({ data }) => data);

test('tells what to look at, and after a break what came meanwhile', async () => {
  const events = await follow();
  expect(events[0]?.event).toBe('hello');
  const first = await escalate('first');
  await eventually(() => expect(changes(events)).toContain(first));
  const lastId = events.findLast(({ id }) => id !== undefined)?.id;
  // Another connection, as one that comes back.
  const meanwhile = await escalate('meanwhile');
  await eventually(() => expect(changes(events)).toContain(meanwhile));
  const resumed = await follow(lastId);
  expect(resumed[0]?.event).toBe('hello');
  await eventually(() => expect(changes(resumed)).toContain(meanwhile));
  expect(changes(resumed)).not.toContain(first);
  const next = await escalate('next');
  await eventually(() => expect(changes(resumed)).toContain(next));
});

test('whoever was away for too long, or comes from another server, is told to look at everything', async () => {
  for (const unknown of ['0123456789ab-7', 'nonsense', '999999999999999']) {
    const events = await follow(unknown);
    expect(events[0]?.event).toBe('resync');
    expect(events[0]?.id).toMatch(/^[0-9a-f]{12}-\d+$/);
  }
});

test('where the server itself may have missed something everybody is told to look at everything', async () => {
  const events = await follow();
  await installation.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'surety http' and query like 'listen%'",
  );
  await eventually(() => expect(events.map(({ event }) => event)).toContain('resync'));
  const after = await escalate('after');
  await eventually(() => expect(changes(events)).toContain(after));
});

test('a question is announced when it is asked and when it is over', async () => {
  const events = await follow();
  await escalate('asked');
  const asking = await installation.connect({ agent: 'bot', approvalWaitMs: 0 });
  const error: { approval?: string } = await asking
    .guard(
      'asked',
      () => 1,
    )({})
    .then(
      () => ({}),
      (failure: unknown) => failure as { approval?: string },
    );
  await eventually(() => expect(changes(events)).toContain(`approval:${error.approval}`));
});

test('a stream ends with its token, at the next heartbeat', async () => {
  const { id, secret: leaving } = await createToken(installation.pool, {
    ...{ name: 'leaving', owner: 'eve', roles: ['approver'], createdBy: 't' },
  });
  const response = await fetch(`${api.url}/v1/events`, {
    headers: { authorization: `Bearer ${leaving}` },
    signal: AbortSignal.timeout(25_000),
  });
  expect(response.status).toBe(200);
  await revokeToken(installation.pool, id, 't');
  expect(await response.text()).toMatch(/^event: hello\n/);
}, 30_000);

test('a token has so many streams at once and no more, and another when one has ended', async () => {
  const { secret: many } = await createToken(installation.pool, {
    ...{ name: 'many', owner: 'eve', roles: ['approver'], createdBy: 't' },
  });
  const leaving: AbortController[] = [];
  // Kept: a stream that nobody can read any more is closed.
  const streams: Response[] = [];
  const open = async () => {
    const leave = new AbortController();
    leaving.push(leave);
    const headers = { authorization: `Bearer ${many}` };
    const stream = await fetch(`${api.url}/v1/events`, { headers, signal: leave.signal });
    streams.push(stream);
    return stream.status;
  };
  onTestFinished(() => {
    for (const leave of leaving) leave.abort();
  });
  while (streams.length < 200) expect(await open()).toBe(200);
  expect(await open()).toBe(429);
  expect((await follow())[0]?.event).toBe('hello');
  leaving[0]?.abort();
  await eventually(async () => expect(await open()).toBe(200));
});
