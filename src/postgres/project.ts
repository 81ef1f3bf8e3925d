import type pg from 'pg';
import type { PartEffect } from '../domain/trust/draft.ts';
import { agentOfPart, scopeOfPart, WHOLE } from '../domain/trust/parts.ts';
import type { Parts, Subject } from '../domain/trust/parts.ts';
import { trustEvents } from '../domain/webhook/event.ts';
import { endBlocked } from './grants.ts';
import type { BlockedPart } from './grants.ts';
import type { Status } from '../domain/trust/trust.ts';
import { inTransaction } from './pool.ts';
import { storable } from '../domain/outcome/field.ts';
import { storableJson } from './text.ts';
import { tellWebhooks } from './webhook-outbox.ts';

export interface ProjectionOrder {
  readonly key: string;
  readonly version: number;
  /** What the state was computed from: the ledger up to here, under these rules. */
  readonly seq: number;
  readonly rulesVersion: number;
  readonly status: Status;
  readonly reason: string;
  readonly dueAt: number | null;
  readonly parts: Parts;
  readonly effects: readonly PartEffect[];
  /** What went wrong between workflow and ledger, for the audit. */
  readonly remarks: readonly string[];
}

/**
 * Writes what gates read and tells them. Safe to run twice: an older or equal version changes nothing. Answers whether it
 * is what gates read now: a run that was ended while it projected may have been faster.
 */
export async function project(pool: pg.Pool, order: ProjectionOrder): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const written = await client.query<{ subject: number }>(
      `insert into trust as t (subject, version, seq, rules_version, status, reason, due_at, parts)
       select s.id, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000), $8 from subject s where s.key = $1
       on conflict (subject) do update set version = excluded.version, seq = excluded.seq,
         rules_version = excluded.rules_version, status = excluded.status, reason = excluded.reason,
         due_at = excluded.due_at, parts = excluded.parts, updated_at = clock_timestamp()
       where t.version < excluded.version
       returning subject`,
      [
        order.key,
        order.version,
        order.seq,
        order.rulesVersion,
        order.status,
        storable(order.reason),
        order.dueAt,
        storableJson(order.parts),
      ],
    );
    const subject = written.rows[0]?.subject;
    if (subject === undefined) return isProjected(client, order);
    const head = await client.query<Subject>(
      `update subject set applied_seq = greatest(applied_seq, $2), attentive = $3,
         due_at = to_timestamp($4::float8 / 1000) where id = $1 returning kind, server, name`,
      [subject, order.seq, order.status !== 'TRUSTED', order.dueAt],
    );
    await client.query(
      `insert into audit (at, subject, part, actor, action, reason)
       select to_timestamp(at / 1000), $1, part, 'surety', change, reason
       from unnest($2::float8[], $3::text[], $4::text[], $5::text[]) as effect (at, part, change, reason)`,
      [
        subject,
        order.effects.map(({ at }) => at),
        order.effects.map(({ part }) => part),
        order.effects.map(({ change }) => change),
        order.effects.map(({ reason }) => storable(reason)),
      ],
    );
    await client.query(
      `insert into audit (subject, actor, action, reason) select $1, 'surety', 'disagreement', unnest($2::text[])`,
      [subject, order.remarks],
    );
    for (const { change, part } of order.effects) {
      if (change === 'blocked') await endBlocked(client, subject, blockedBy(part));
    }
    await tellWebhooks(
      client,
      head.rows.flatMap((told) => trustEvents(order.key, told, order.effects)),
    );
    await client.query("select pg_notify('surety', 'trust:' || $1)", [subject]);
    return true;
  });
}

function blockedBy(part: string): BlockedPart {
  const [scope, agent] = [scopeOfPart(part), agentOfPart(part)];
  return { ...(scope === WHOLE ? {} : { scope }), ...(agent === undefined ? {} : { agent }) };
}

async function isProjected(client: pg.PoolClient, { key, version, seq, parts }: ProjectionOrder): Promise<boolean> {
  const found = await client.query<{ same: boolean }>(
    `select t.version = $2 and t.seq = $3 and t.parts = $4::jsonb as same
     from trust t join subject s on s.id = t.subject where s.key = $1`,
    [key, version, seq, storableJson(parts)],
  );
  return found.rows[0]?.same === true;
}

/** When the subject's bell is next to be rung for a failure. */
export interface Rest {
  /** Whose failures are waited with; empty for those of calls that name none. */
  readonly scope: string;
  /** As the ledger counts them. */
  readonly failures: number;
  readonly until: number | null;
  readonly rulesVersion: number;
}

/**
 * Marks rows as applied that changed nothing a gate could see. Only ever moves forward, so it may run twice; what is said
 * of the rest is said of that place, and of no other.
 */
export async function acknowledge(
  pool: pg.Pool,
  key: string,
  seq: number,
  rejected: number,
  rest?: Rest | null,
): Promise<void> {
  await pool.query({
    name: 'acknowledge',
    text: `update subject set applied_seq = greatest(applied_seq, $2), rejected = greatest(rejected, $3),
       patient_seq = case when $7 = '' or exists (select 1 from name where text = $7) then $2 end,
       patient_failures = $4, patient_until = to_timestamp($5::float8 / 1000), patient_rules = $6,
       patient_scope = (select id from name where text = $7)
     where key = $1`,
    values: [key, seq, rejected, rest?.failures, rest?.until, rest?.rulesVersion, rest?.scope],
  });
}
