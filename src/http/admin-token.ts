import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { createToken, findToken } from '../postgres/tokens.ts';

/** On the first start one admin token is made, in a file that only its owner can read; answers where it is. */
export async function ensureAdminToken(pool: pg.Pool, home: string, owner: string): Promise<string> {
  const file = join(home, 'admin-token');
  const kept = await readFile(file, 'utf8').catch(() => '');
  if (kept !== '' && (await findToken(pool, kept.trim())) !== undefined) return file;
  const { secret } = await createToken(pool, { name: owner, owner, roles: ['admin'], createdBy: 'surety up' });
  await writeFile(file, `${secret}\n`, { mode: 0o600 });
  return file;
}
