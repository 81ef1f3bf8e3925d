import { expect } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { fail, keyOf, untilStatus } from '../workflow/support.ts';

/** A server, and who asks it. */
export interface Place {
  readonly url: string;
  readonly token: string;
}

export async function send({ url, token }: Place, method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body: text }) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

export const post = (as: Place, path: string, body: unknown) => send(as, 'POST', path, body);
export const get = (as: Place, path: string) => send(as, 'GET', path);

/** Until whoever asks the server is told so. */
export async function escalate(installation: Installation, gate: Gate, as: Place, tool: string): Promise<void> {
  await fail(gate, tool, 3);
  await untilStatus(installation, keyOf(tool), 'ESCALATED');
  await eventually(async () => expect((await post(as, '/v1/check', { tool })).body['decision']).toBe('ask'));
}
