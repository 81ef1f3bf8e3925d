import { readFile, writeFile } from 'node:fs/promises';
import type pg from 'pg';
import { refusalOfName } from '../domain/approval/person.ts';
import { createToken, findToken } from '../postgres/tokens.ts';

/** On the first start one admin token is made, in a file that only its owner can read. */
export async function ensureAdminToken(pool: pg.Pool, file: string, user: string): Promise<void> {
  const kept = await readFile(file, 'utf8').catch(() => '');
  if (kept !== '' && (await findToken(pool, kept.trim())) !== undefined) return;
  // An account may well be called surety; whoever signs so in the ledger is nobody but Surety itself.
  const owner = refusalOfName(user) === undefined ? user : `user ${user}`;
  const { secret } = await createToken(pool, { name: owner, owner, roles: ['admin'], createdBy: 'surety up' });
  await writeFile(file, `${secret}\n`, { mode: 0o600 });
}
