import { ApplicationFailure } from '@temporalio/workflow';
import type { OrderRequest } from './messages.ts';

const MOST_CHARACTERS = { by: 200, reason: 1000, scope: 400 } satisfies Record<keyof OrderRequest, number>;

/** Anybody with access to the namespace may order, with anything: what cannot be recorded as it was meant is refused. */
export function refuseMalformed(request: unknown): void {
  if (request === undefined || request === null) return;
  if (typeof request !== 'object' || Array.isArray(request)) throw malformed('an order is an object');
  for (const [name, value] of Object.entries(request)) {
    const most = name in MOST_CHARACTERS ? MOST_CHARACTERS[name as keyof OrderRequest] : undefined;
    if (most === undefined)
      throw malformed(`an order has by, reason and scope, no ${JSON.stringify(name.slice(0, 40))}`);
    if (typeof value !== 'string') throw malformed(`${name} is a text`);
    if (value.length > most) throw malformed(`${name} is longer than ${most} characters`);
    if (value === '' && name !== 'reason') throw malformed(`${name} is empty`);
  }
}

function malformed(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`${message}; nothing was ordered`, 'InvalidOrder');
}
