import type pg from 'pg';
import { LIVE } from './grants.ts';

/** A grant as people see it. Times in epoch milliseconds. */
export interface ShownGrant {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly kind: 'once' | 'session' | 'until' | 'always';
  readonly covers: 'arguments' | 'scope' | 'tool';
  readonly pattern: Readonly<Record<string, string>> | null;
  readonly scope: string | null;
  readonly agent: string | null;
  readonly session: string | null;
  readonly until: number | null;
  readonly givenAt: number;
  readonly givenBy: string | null;
  readonly consumedAt: number | null;
  readonly revokedAt: number | null;
  readonly revokedBy: string | null;
  readonly revokeReason: string | null;
}

/** The last one of the page before. */
export type GrantsCursor = Pick<ShownGrant, 'givenAt' | 'id'>;

/** The newest first; those that can still answer a call, or all. */
export async function readShownGrants(
  pool: pg.Pool,
  { all, limit, after }: { readonly all: boolean; readonly limit: number; readonly after?: GrantsCursor | undefined },
): Promise<readonly ShownGrant[]> {
  const ms = (column: string) => `extract(epoch from g.${column})::float8 * 1000`;
  const found = await pool.query<ShownGrant>(
    `select g.id, s.server, s.name as tool, g.kind, g.covers, g.pattern, g.scope, g.agent, g.session,
       ${ms('until')} as until, ${ms('given_at')} as "givenAt", g.given_by as "givenBy",
       ${ms('consumed_at')} as "consumedAt", ${ms('revoked_at')} as "revokedAt", g.revoked_by as "revokedBy",
       g.revoke_reason as "revokeReason"
     from approval_grant g join subject s on s.id = g.subject
     where ($1 or (${LIVE}))
       and ($3::float8 is null or (g.given_at, g.id) < (to_timestamp($3 / 1000)::timestamptz(3), $4::uuid))
     order by g.given_at desc, g.id desc limit $2`,
    [all, limit, after?.givenAt ?? null, after?.id ?? null],
  );
  return found.rows;
}
