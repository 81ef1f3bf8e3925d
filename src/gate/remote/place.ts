import * as z from 'zod';
import { pauseUnless } from '../../pause.ts';
import { Problem } from '../../problem.ts';
import type { Place } from '../connect.ts';
import { createRemoteBackend } from './backend.ts';
import { Refused } from '../errors.ts';
import { createRemote } from './http.ts';
import type { Remote } from './http.ts';
import { createRemoteSource } from './source.ts';

/** A server that stands before the ledger. A token that it does not know is refused at once: no waiting would help. */
export async function remotePlace(url: string, token: string | undefined, withinMs: number): Promise<Place> {
  if (token === undefined) {
    throw new Problem(
      `${url} wants to know who asks.`,
      'Give connect a token, or set SURETY_TOKEN: surety token create …',
    );
  }
  const remote = createRemote(url, token);
  await pauseUnless(refuseUnknownToken(remote, url), withinMs);
  return {
    source: createRemoteSource(remote),
    backend: createRemoteBackend(remote),
    refuseToStart: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

async function refuseUnknownToken(remote: Remote, url: string): Promise<void> {
  await remote.post('v1/gate/news', {}, z.unknown()).catch((error: unknown) => {
    // A server that cannot be reached yet may be later.
    if (!(error instanceof Refused) || ![401, 403, 404].includes(error.status)) return;
    throw new Problem(
      `${url} refuses: ${error.message}`,
      'Make a token there: surety token create <name> --role agent',
    );
  });
}
