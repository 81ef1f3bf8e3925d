import { createParser } from 'eventsource-parser';
import { createWaker } from '../../pause.ts';
import type { Source } from '../source.ts';
import { WireNews, WireSnapshot } from '../wire.schema.ts';
import type { Remote } from './http.ts';

/** The server says something every ten seconds. */
const SILENCE_MS = 25_000;

/** Reads what a gate must know from a server that stands before the ledger. */
export function createRemoteSource(remote: Remote): Source {
  return {
    snapshot: () => remote.get('v1/gate/snapshot', WireSnapshot),
    news: (wanted) => remote.post('v1/gate/news', wanted, WireNews),
    listen: async (onAnnounced, onBroken) => {
      const leaving = new AbortController();
      const response = await remote.stream('v1/events', leaving.signal);
      const following = follow(response, onAnnounced, leaving.signal).then(
        () => onBroken(new Error('the stream of events ended')),
        onBroken,
      );
      return {
        close: async () => {
          leaving.abort();
          await following;
        },
      };
    },
  };
}

async function follow(response: Response, onAnnounced: (what: string) => void, left: AbortSignal): Promise<void> {
  const waker = createWaker();
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (event === 'changed') onAnnounced(data);
      // The snapshot that follows every new connection makes up for it.
      if (event === 'resync') waker.fail(new Error('the server may have missed something'));
    },
  });
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  if (reader === undefined) throw new Error('the stream of events is empty');
  let lastHeard = Date.now();
  const reading = async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      lastHeard = Date.now();
      parser.feed(decoder.decode(part.value, { stream: true }));
    }
    waker.fail(new Error('the stream of events ended'));
  };
  reading().catch(waker.fail);
  try {
    while (!left.aborted) {
      await waker.sleep(Math.max(0, lastHeard + SILENCE_MS - Date.now()), left);
      if (Date.now() - lastHeard >= SILENCE_MS) throw new Error('nothing was heard from the server');
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
