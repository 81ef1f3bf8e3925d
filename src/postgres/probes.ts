import type pg from 'pg';
import { scopeOfPart } from '../domain/trust/parts.ts';
import { inTransaction } from './pool.ts';

export interface ProbeRequest {
  /** Every part in recovery that the call depends on, e.g. its server and its scope. */
  readonly parts: readonly { readonly key: string; readonly part: string }[];
  readonly toolKey: string;
  readonly scope?: string;
  readonly callId: string;
  readonly agent?: string;
  readonly trustVersion: number;
  readonly leaseSeconds: number;
}

/**
 * Takes the probe of all parts, or of none. Keys are taken in order, so two callers cannot hold one each. A holder that
 * has been silent past its time is ended by the same statement; whoever sweeps records what became of it.
 */
export async function acquireProbe(pool: pg.Pool, request: ProbeRequest): Promise<string | undefined> {
  const keys = request.parts.map(({ key, part }) => `${key}#${part}`).sort();
  try {
    return await inTransaction(pool, async (client) => {
      const taken = await client.query<{ token: string }>(
        `with ended as (
           update probe set ended_at = clock_timestamp()
           where part_key = any($1) and ended_at is null and expires_at <= clock_timestamp() returning 1
         ), token as (select nextval('probe_token') as token, count(*) from ended)
         insert into probe (token, part_key, subject, scope, call_id, agent, trust_version, expires_at)
         select token.token, part_key, s.id, $3, $4, $5, $6, clock_timestamp() + $7::int * interval '1 second'
         from token, subject s, unnest($1::text[]) as part_key where s.key = $2 order by part_key
         on conflict (part_key) where ended_at is null do nothing
         returning token::text`,
        [
          keys,
          request.toolKey,
          request.scope ?? null,
          request.callId,
          request.agent ?? null,
          request.trustVersion,
          request.leaseSeconds,
        ],
      );
      // In this order: whoever held it before us has said by now what came of it.
      if (taken.rowCount !== keys.length || (await hasRelapsed(client, request.parts))) throw new Taken();
      return taken.rows[0]?.token;
    });
  } catch (error) {
    if (error instanceof Taken) return undefined;
    throw error;
  }
}

class Taken extends Error {}

/** Whether a part is no longer to be tried, or has a failure that nobody has judged yet. */
async function hasRelapsed(client: pg.PoolClient, parts: ProbeRequest['parts']): Promise<boolean> {
  const found = await client.query(
    `select 1 from unnest($1::text[], $2::text[], $3::text[]) as tried (key, part, scope)
       join subject s on s.key = tried.key left join trust t on t.subject = s.id
     where t.parts -> tried.part ->> 'status' in ('ESCALATED', 'BLOCKED') or exists (
       select 1 from ledger l left join name n on n.id = l.scope
       where l.subject = s.id and l.seq > s.applied_seq and l.kind <> 0 and tried.scope in ('', n.text)
     ) or exists (
       select 1 from ledger l where l.server_subject = s.id and l.server_seq > s.applied_seq and l.kind <> 0
     )`,
    [parts.map(({ key }) => key), parts.map(({ part }) => part), parts.map(({ part }) => scopeOfPart(part))],
  );
  return found.rows.length > 0;
}

/** Which of these leases an agent has, or had until they lapsed. */
export async function ownProbes(pool: pg.Pool, tokens: readonly string[], agent: string): Promise<readonly string[]> {
  const numbers = tokens.filter((token) => /^\d{1,18}$/.test(token));
  const found = await pool.query<{ token: string }>(
    'select distinct token::text from probe where token = any($1::bigint[]) and agent = $2',
    [numbers, agent],
  );
  return found.rows.map(({ token }) => token);
}

/** False once the lease has lapsed: then somebody else may be probing. */
export async function renewProbe(pool: pg.Pool, token: string, leaseSeconds: number): Promise<boolean> {
  const renewed = await pool.query(
    `update probe set expires_at = clock_timestamp() + $2::int * interval '1 second'
     where token = $1 and ended_at is null and expires_at > clock_timestamp()`,
    [token, leaseSeconds],
  );
  return (renewed.rowCount ?? 0) > 0;
}

/** Gives a probe back that was never used. */
export async function releaseProbe(pool: pg.Pool, token: string): Promise<void> {
  await pool.query('delete from probe where token = $1', [token]);
}

export interface SilentProbe {
  readonly token: string;
  readonly callId: string;
  readonly subject: number;
  /** The server's head, when it was the server, too, that was probed. */
  readonly serverSubject: number | null;
  readonly scope: string | null;
  readonly agent: string | null;
  readonly trustVersion: number;
}

/** Probes whose holder never said what became of the call. They stay until `forgetProbes`, so a sweep may die midway. */
export async function silentProbes(pool: pg.Pool): Promise<readonly SilentProbe[]> {
  const found = await pool.query<SilentProbe>(
    `select p.token::text, p.call_id as "callId", p.subject, p.scope, p.agent, p.trust_version as "trustVersion",
       max(v.id) as "serverSubject"
     from probe p left join subject v on v.kind = 'server' and v.key = split_part(p.part_key, '#', 1)
     where p.ended_at is not null or p.expires_at <= clock_timestamp()
     group by p.token, p.call_id, p.subject, p.scope, p.agent, p.trust_version order by p.token limit 100`,
  );
  return found.rows;
}
