import { Webhook } from 'standardwebhooks';
import type { Endpoint } from '../postgres/webhooks.ts';
import { version } from '../version.ts';
import { outbound } from './outbound.ts';
import type { Answer } from './outbound.ts';

export interface WebhookMessage {
  /** The same however often it is sent: receivers know by it what they have seen. */
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
  /** Where a person sees more. */
  readonly url: string;
}

const TIMEOUT_MS = 15_000;
/** Nobody reads an answer's body but whoever tests a webhook. */
const MOST_BYTES = 2000;
/** A receiver that has answered has received, also if it never ends its answer. */
const BODY_WITHIN_MS = 2000;
const USER_AGENT = `surety/${version()}`;

/** Sends one message, signed as Standard Webhooks has it, once. The signature's time is that of this attempt. */
export async function sendWebhook(endpoint: Endpoint, message: WebhookMessage, stopped?: AbortSignal): Promise<Answer> {
  const { id, type, at, data, url } = message;
  const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data: { ...data, url } });
  const now = new Date();
  return outbound(endpoint.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': endpoint.secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
    },
    body,
    timeoutMs: TIMEOUT_MS,
    mostBytes: MOST_BYTES,
    bodyWithinMs: BODY_WITHIN_MS,
    allowPrivate: endpoint.allowPrivate,
    ...(stopped === undefined ? {} : { stopped }),
  });
}
