import type pg from 'pg';
import { decide } from '../../src/postgres/approval-decide.ts';
import type { NewDecision } from '../../src/postgres/approval-decide.ts';
import { createToken } from '../../src/postgres/tokens.ts';

/** Decides as an approver of that name would: with a token, which is made where there is none yet. */
export async function decideAs(pool: pg.Pool, decision: NewDecision): Promise<string> {
  return decide(pool, { ...decision, token: await tokenOf(pool, decision.by) });
}

async function tokenOf(pool: pg.Pool, name: string): Promise<string> {
  const found = await pool.query<{ id: string }>("select id from token where name = $1 and roles = '{approver}'", [
    name,
  ]);
  const [token] = found.rows;
  return (token ?? (await createToken(pool, { name, owner: name, roles: ['approver'], createdBy: 'test' }))).id;
}
