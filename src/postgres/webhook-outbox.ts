import type pg from 'pg';
import type { WebhookEvent } from '../domain/webhook/event.ts';
import { newOutcomeId } from './outcome-id.ts';
import { storableJson } from './text.ts';

/**
 * Writes down who is to be told, in the transaction of what they are told of: neither can happen without the other. Where
 * there is no webhook, or nothing to tell, it costs one look or none.
 */
export async function tellWebhooks(client: pg.PoolClient, events: readonly WebhookEvent[]): Promise<void> {
  if (events.length === 0) return;
  const webhooks = await client.query<{ id: string; events: readonly string[] }>(
    'select id, events from webhook where removed_at is null',
  );
  const rows = webhooks.rows.flatMap((webhook) =>
    events
      .filter(({ type }) => webhook.events.length === 0 || webhook.events.includes(type))
      .map((event) => ({ ...event, id: newOutcomeId(), webhook: webhook.id })),
  );
  if (rows.length === 0) return;
  await client.query(
    `insert into webhook_delivery (id, webhook, type, at, data, link)
     select id, webhook, type, to_timestamp(at / 1000), data::jsonb, link
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::float8[], $5::text[], $6::text[])
       as told (id, webhook, type, at, data, link)`,
    [
      rows.map(({ id }) => id),
      rows.map(({ webhook }) => webhook),
      rows.map(({ type }) => type),
      rows.map(({ at }) => at),
      rows.map(({ data }) => storableJson(data)),
      rows.map(({ link }) => link),
    ],
  );
  await client.query("select pg_notify('surety_bell', '')");
}
