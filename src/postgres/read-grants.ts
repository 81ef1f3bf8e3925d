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
  readonly uses: number;
  readonly consumedAt: number | null;
  readonly revokedAt: number | null;
  readonly revokedBy: string | null;
  readonly revokeReason: string | null;
}

/** The newest first; those that can still answer a call, or all. */
export async function readShownGrants(
  pool: pg.Pool,
  { all, limit }: { readonly all: boolean; readonly limit: number },
): Promise<readonly ShownGrant[]> {
  const ms = (column: string) => `extract(epoch from g.${column})::float8 * 1000`;
  const found = await pool.query<ShownGrant>(
    `select g.id, s.server, s.name as tool, g.kind, g.covers, g.pattern, g.scope, g.agent, g.session,
       ${ms('until')} as until, ${ms('given_at')} as "givenAt", g.given_by as "givenBy", g.uses,
       ${ms('consumed_at')} as "consumedAt", ${ms('revoked_at')} as "revokedAt", g.revoked_by as "revokedBy",
       g.revoke_reason as "revokeReason"
     from approval_grant g join subject s on s.id = g.subject
     where $1 or (${LIVE})
     order by g.given_at desc limit $2`,
    [all, limit],
  );
  return found.rows;
}
