import type pg from 'pg';
import { storable } from '../domain/outcome/field.ts';
import { ENDPOINT } from './webhooks.ts';
import type { Endpoint } from './webhooks.ts';

/** One run of a delivery: what another run says of it counts no more. */
export interface DeliveryRun {
  readonly id: string;
  readonly run: number;
}

export interface ClaimedDelivery {
  readonly type: string;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly link: string;
  /** Of this run, with the one that begins now. */
  readonly attempts: number;
  readonly endpoint: Endpoint;
}

/** Begins an attempt; undefined where there is nothing left to attempt. */
export async function claimDelivery(pool: pg.Pool, { id, run }: DeliveryRun): Promise<ClaimedDelivery | undefined> {
  const found = await pool.query<Omit<ClaimedDelivery, 'endpoint'> & Endpoint>(
    `update webhook_delivery d set attempts = d.attempts + 1 from webhook w
     where d.id = $1 and d.run = $2 and d.status = 'pending' and w.id = d.webhook and w.removed_at is null
     returning d.type, extract(epoch from d.at)::float8 * 1000 as at, d.data, d.link, d.attempts, ${ENDPOINT}`,
    [id, run],
  );
  const [row] = found.rows;
  if (row === undefined) return undefined;
  const { url, secrets, allowPrivate, ...claimed } = row;
  return { ...claimed, endpoint: { url, secrets, allowPrivate } };
}

export async function markDelivered(pool: pg.Pool, { id, run }: DeliveryRun, answer: number): Promise<void> {
  await pool.query(
    `update webhook_delivery set status = 'delivered', answer = $3, error = null, ended_at = clock_timestamp()
     where id = $1 and run = $2 and status = 'pending'`,
    [id, run, answer],
  );
}

export async function noteFailure(
  pool: pg.Pool,
  { id, run }: DeliveryRun,
  failure: { readonly because: string; readonly answer: number | null },
): Promise<void> {
  await pool.query(
    "update webhook_delivery set answer = $3, error = $4 where id = $1 and run = $2 and status = 'pending'",
    [id, run, failure.answer, storable(failure.because)],
  );
}

/** Gives up. Safe to run twice: what is no longer pending is left as it is. */
export async function buryDelivery(pool: pg.Pool, { id, run }: DeliveryRun, because: string): Promise<void> {
  await pool.query(
    `update webhook_delivery set status = 'dead', error = coalesce(error, $3), ended_at = clock_timestamp()
     where id = $1 and run = $2 and status = 'pending'`,
    [id, run, storable(because)],
  );
}

export interface EndedDelivery {
  readonly id: string;
  readonly webhook: string;
  readonly type: string;
  readonly status: 'delivered' | 'dead';
  readonly attempts: number;
  readonly answer: number | null;
  readonly error: string | null;
  readonly createdAt: number;
  readonly endedAt: number;
  /** Its webhook is there no more: it can be sent to nobody. */
  readonly isOrphan: boolean;
}

/** The newest first. */
export async function readEnded(
  pool: pg.Pool,
  options: { readonly status?: 'dead'; readonly limit: number },
): Promise<readonly EndedDelivery[]> {
  const found = await pool.query<EndedDelivery>(
    `select d.id, d.webhook, d.type, d.status, d.attempts, d.answer, d.error, w.removed_at is not null as "isOrphan",
       extract(epoch from d.created_at)::float8 * 1000 as "createdAt",
       extract(epoch from d.ended_at)::float8 * 1000 as "endedAt"
     from webhook_delivery d join webhook w on w.id = d.webhook
     where ${options.status === undefined ? "d.status <> 'pending'" : "d.status = 'dead'"} order by d.id desc limit $1`,
    [options.limit],
  );
  return found.rows;
}

/** Sends ended deliveries again, each under the id it had; answers which. Without ids: all that are dead. */
export async function replayDeliveries(
  pool: pg.Pool,
  ids: readonly string[] | 'dead',
  by: string,
): Promise<readonly string[]> {
  const which = ids === 'dead' ? "d.status = 'dead'" : "d.status <> 'pending' and d.id = any($2)";
  const replayed = await pool.query<{ id: string }>(
    `with replayed as (
       update webhook_delivery d set status = 'pending', run = d.run + 1, attempts = 0, answer = null, error = null,
         started_at = null, ended_at = null
       from webhook w where w.id = d.webhook and w.removed_at is null and ${which} returning d.id
     ), noted as (
       insert into audit (actor, action, reason, detail)
       select $1, 'webhooks replayed', '', jsonb_build_object('deliveries', jsonb_agg(id)) from replayed having count(*) > 0
     ), rung as (select pg_notify('surety_bell', ''))
     select id from replayed, rung`,
    ids === 'dead' ? [by] : [by, ids],
  );
  return replayed.rows.map(({ id }) => id);
}

/** Deliveries that ended long ago are of no use to anybody; those under way are kept whatever their age. */
export async function pruneDeliveries(pool: pg.Pool, retentionDays: number): Promise<void> {
  await pool.query(
    `delete from webhook_delivery where id in (
       select id from webhook_delivery where ended_at < clock_timestamp() - $1::int * interval '1 day' limit 10000)`,
    [retentionDays],
  );
  await pool.query('update webhook set previous_secret = null where previous_until < clock_timestamp()');
}
