import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type pg from 'pg';
import { verdictOn } from '../src/domain/webhook/verdict.ts';
import type { Verdict } from '../src/domain/webhook/verdict.ts';
import { OutboundFailed, OutboundRefused } from '../src/execution/outbound.ts';
import { sendWebhook } from '../src/execution/send-webhook.ts';
import { claimDelivery, markDelivered, noteFailure } from '../src/postgres/webhook-deliveries.ts';
import type { ClaimedDelivery, DeliveryRun } from '../src/postgres/webhook-deliveries.ts';

export interface Deliverer {
  readonly pool: pg.Pool;
  /** Where people find the console. */
  readonly publicUrl: string;
}

/**
 * Sends one message once, and says what came of it. Safe to run twice: what is delivered is not sent again, and what is
 * sent again, because we died before we could write down the answer, has the id that the receiver knows.
 */
export async function deliverWebhook(deliverer: Deliverer, run: DeliveryRun): Promise<string> {
  const { pool } = deliverer;
  const claimed = await claimDelivery(pool, run);
  if (claimed === undefined) return 'nothing was left to send';
  const { verdict, answer } = await attempt(deliverer, run.id, claimed);
  if (verdict.delivered) {
    await markDelivered(pool, run, answer ?? 0);
    return `answered ${answer ?? 0}`;
  }
  const { because, retry, delayMs } = verdict;
  await noteFailure(pool, run, { because, answer });
  const failure = ApplicationFailure.create({
    message: because,
    type: 'NotDelivered',
    nonRetryable: !retry,
    ...(delayMs === undefined ? {} : { nextRetryDelay: delayMs }),
  });
  // The receiver's failure, not ours: where in our code it was noticed is of no use in a history.
  failure.stack = '';
  throw failure;
}

async function attempt(
  { publicUrl }: Deliverer,
  id: string,
  { type, at, data, link, attempts, endpoint }: ClaimedDelivery,
): Promise<{ verdict: Verdict; answer: number | null }> {
  const stopped = cancellationSignal();
  try {
    const { status, headers } = await sendWebhook(
      endpoint,
      { id, type, at, data, url: `${publicUrl}${link}` },
      stopped,
    );
    return { verdict: verdictOn(status, headers['retry-after'], attempts, Date.now()), answer: status };
  } catch (error) {
    if (error instanceof OutboundRefused) {
      return { verdict: { delivered: false, because: `refused: ${error.message}`, retry: false }, answer: null };
    }
    // A worker that stops says nothing about the receiver.
    if (!(error instanceof OutboundFailed) || stopped.aborted) throw error;
    return { verdict: { delivered: false, because: error.message, retry: true }, answer: null };
  }
}
