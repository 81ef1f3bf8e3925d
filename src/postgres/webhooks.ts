import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { EventType } from '../domain/webhook/event.ts';
import { newOutcomeId } from './outcome-id.ts';
import { inTransaction } from './pool.ts';

export interface Webhook {
  readonly id: string;
  /** As it may be shown: its path may be a credential. */
  readonly url: string;
  /** Empty: all. */
  readonly events: readonly EventType[];
  readonly allowPrivate: boolean;
  readonly retrySeconds: number;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly pending: number;
  readonly dead: number;
}

export interface NewWebhook {
  readonly url: string;
  readonly events: readonly EventType[];
  readonly allowPrivate: boolean;
  readonly retrySeconds: number;
  readonly by: string;
}

/** Its secret is returned here and shown nowhere else. It has to be kept as it is: what is sent is signed with it. */
export async function addWebhook(pool: pg.Pool, webhook: NewWebhook): Promise<{ id: string; secret: string }> {
  const id = newOutcomeId();
  const secret = newSecret();
  const { url, events, allowPrivate, retrySeconds, by } = webhook;
  await pool.query(
    `with made as (
       insert into webhook (id, url, secret, events, allow_private, retry_seconds, created_by)
       values ($1, $2, $3, $4, $5, $6, $7)
     )
     insert into audit (actor, action, reason, detail)
     values ($7, 'webhook added', '', jsonb_build_object('webhook', $1::text, 'url', $8::text, 'events', $4::text[]))`,
    [id, url, secret, events, allowPrivate, retrySeconds, by, shownUrl(url)],
  );
  return { id, secret };
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/**
 * Gives it another secret, which is returned here and shown nowhere else. What is sent is signed with the old one, too, for
 * so long; one from before that counts no more. Undefined where there is no such webhook.
 */
export async function rotateSecret(
  pool: pg.Pool,
  id: string,
  { by, overlapSeconds }: { readonly by: string; readonly overlapSeconds: number },
): Promise<string | undefined> {
  const secret = newSecret();
  const rotated = await pool.query(
    `with rotated as (
       update webhook set secret = $2, previous_secret = secret,
         previous_until = clock_timestamp() + $3::int * interval '1 second'
       where id = $1 and removed_at is null returning id
     )
     insert into audit (actor, action, reason, detail)
     select $4, 'webhook secret rotated', '', jsonb_build_object('webhook', id, 'overlapSeconds', $3::int) from rotated`,
    [id, secret, overlapSeconds, by],
  );
  return rotated.rowCount === 1 ? secret : undefined;
}

export async function listWebhooks(pool: pg.Pool): Promise<readonly Webhook[]> {
  const found = await pool.query<Webhook>(
    `select w.id, w.url, w.events, w.allow_private as "allowPrivate", w.retry_seconds as "retrySeconds",
       w.created_by as "createdBy", extract(epoch from w.created_at)::float8 * 1000 as "createdAt",
       (select count(*) from webhook_delivery d where d.webhook = w.id and d.status = 'pending') as pending,
       (select count(*) from webhook_delivery d where d.webhook = w.id and d.status = 'dead') as dead
     from webhook w where w.removed_at is null order by w.id`,
  );
  return found.rows.map((webhook) => ({ ...webhook, url: shownUrl(webhook.url) }));
}

/** What sending to it takes. */
export interface Endpoint {
  readonly url: string;
  /** The newest first. Two while a receiver learns the new one. */
  readonly secrets: readonly string[];
  readonly allowPrivate: boolean;
}

/** Of `webhook w`. */
export const ENDPOINT = `w.url, w.allow_private as "allowPrivate", array_remove(array[w.secret,
  case when w.previous_until > clock_timestamp() then w.previous_secret end], null) as secrets`;

export async function readEndpoint(pool: pg.Pool, id: string): Promise<Endpoint | undefined> {
  const found = await pool.query<Endpoint>(`select ${ENDPOINT} from webhook w where id = $1 and removed_at is null`, [
    id,
  ]);
  return found.rows[0];
}

/** Forgets its secret, and gives up what it was still to be told. */
export async function removeWebhook(pool: pg.Pool, id: string, by: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    const removed = await client.query<{ url: string }>(
      `update webhook set removed_at = clock_timestamp(), removed_by = $2, secret = null, previous_secret = null
       where id = $1 and removed_at is null returning url`,
      [id, by],
    );
    const [webhook] = removed.rows;
    if (webhook === undefined) return;
    await client.query(
      `update webhook_delivery set status = 'dead', error = 'its webhook was removed', ended_at = clock_timestamp()
       where webhook = $1 and status = 'pending'`,
      [id],
    );
    await client.query(
      `insert into audit (actor, action, reason, detail)
       values ($2, 'webhook removed', '', jsonb_build_object('webhook', $1::text, 'url', $3::text))`,
      [id, by, shownUrl(webhook.url)],
    );
  });
}

/** Many a receiver takes whoever knows its path for authorised, however plain it looks: only where it is is shown. */
export function shownUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return pathname === '/' && search === '' ? origin : `${origin}/…`;
}
