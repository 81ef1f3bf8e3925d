import type pg from 'pg';
import type { Status } from '../domain/trust/trust.ts';
import { KNOWN } from './read-subjects.ts';
import type { KnownSubject } from './read-subjects.ts';

export interface ToolsRequest {
  readonly status?: Status;
  /** Part of a name or of a server's, in any case. */
  readonly search?: string;
  /** The last one of the page before. */
  readonly after?: ToolsCursor;
  readonly limit: number;
}

export interface ToolsCursor {
  readonly rank: number;
  readonly server: string;
  readonly name: string;
  readonly id: number;
}

const STRICTEST_FIRST: readonly Status[] = ['BLOCKED', 'ESCALATED', 'RECOVERING', 'TRUSTED'];

export function cursorOf({ status, server, name, id }: KnownSubject): ToolsCursor {
  return { rank: STRICTEST_FIRST.indexOf(status), server, name, id };
}

const MATCHES = `($1::text is null or s.name ilike $1 or s.server ilike $1 or s.server || '/' || s.name ilike $1)`;

/**
 * A page of tools and servers: those in doubt first, the strictest first, then by name. Those in doubt are few and found by an
 * index of their own; the others are read in the order of another, so that a page costs the same with a million tools. A search
 * looks at every name.
 */
export async function readTools(pool: pg.Pool, request: ToolsRequest): Promise<readonly KnownSubject[]> {
  const { status, after, limit } = request;
  const inDoubt = status === 'TRUSTED' || after?.rank === 3 ? [] : await readInDoubt(pool, request);
  if (inDoubt.length >= limit || (status !== undefined && status !== 'TRUSTED')) return inDoubt;
  return [...inDoubt, ...(await readTrusted(pool, request, limit - inDoubt.length))];
}

async function readInDoubt(pool: pg.Pool, { status, search, after, limit }: ToolsRequest) {
  const rank = `(array_position($2::text[], t.status) - 1)`;
  const found = await pool.query<KnownSubject>(
    `select ${KNOWN} from trust t join subject s on s.id = t.subject
     where t.status <> 'TRUSTED' and ${MATCHES} and ($3::text is null or t.status = $3)
       and ($4::int is null or (${rank}, s.server, s.name, s.id) > ($4, $5, $6, $7::bigint))
     order by ${rank}, s.server, s.name, s.id limit $8`,
    [
      ...[likeOf(search), STRICTEST_FIRST, status ?? null],
      ...[after?.rank ?? null, after?.server ?? null, after?.name ?? null, after?.id ?? null, limit],
    ],
  );
  return found.rows;
}

async function readTrusted(pool: pg.Pool, { search, after }: ToolsRequest, limit: number) {
  const from = after?.rank === 3 ? after : undefined;
  const found = await pool.query<KnownSubject>(
    `select ${KNOWN} from subject s left join trust t on t.subject = s.id
     where coalesce(t.status, 'TRUSTED') = 'TRUSTED' and ${MATCHES}
       and ($2::text is null or ((s.server, s.name) >= ($2, $3) and (s.server, s.name, s.id) > ($2, $3, $4::bigint)))
     order by s.server, s.name, s.id limit $5`,
    [likeOf(search), from?.server ?? null, from?.name ?? null, from?.id ?? null, limit],
  );
  return found.rows;
}

function likeOf(search: string | undefined): string | null {
  return search === undefined ? null : `%${search.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;
}
