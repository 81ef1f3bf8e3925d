import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import type { Config } from '../config.ts';
import { homeAt } from '../home.ts';
import { findToken } from '../postgres/tokens.ts';
import type { Token } from '../postgres/tokens.ts';
import { Problem } from '../problem.ts';

/** What says who decides at this terminal: SURETY_TOKEN, or the token that `surety up` has left in the data directory. */
export async function ownToken(pool: pg.Pool, { remote, home }: Config): Promise<Token | undefined> {
  if (remote.token !== undefined) {
    const token = await findToken(pool, remote.token);
    if (token !== undefined) return token;
    throw new Problem(
      'The token in SURETY_TOKEN is not known, has ended, or was revoked.',
      'Unset it, or make another: surety token create <name> --role approver',
    );
  }
  const kept = await readFile(homeAt(home).adminToken, 'utf8').catch(() => '');
  // A data directory may be older than the ledger in use: its token then says nothing here.
  return kept === '' ? undefined : findToken(pool, kept.trim());
}
