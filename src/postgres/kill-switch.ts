import type pg from 'pg';

export interface KillSwitch {
  readonly isOn: boolean;
  readonly by: string;
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Undefined where it was never used. */
export async function readKillSwitch(pool: pg.Pool): Promise<KillSwitch | undefined> {
  const found = await pool.query<KillSwitch>(
    `select is_on as "isOn", by, reason, extract(epoch from at)::float8 * 1000 as at
     from kill_switch order by id desc limit 1`,
  );
  return found.rows[0];
}

/** Audited, in the same statement. */
export async function throwKillSwitch(pool: pg.Pool, isOn: boolean, by: string, reason: string): Promise<void> {
  await pool.query(
    `with thrown as (insert into kill_switch (is_on, by, reason) values ($1, $2, $3)),
     noted as (insert into audit (actor, action, reason, detail)
       values ($2, 'kill switch', $3, jsonb_build_object('on', $1::boolean)))
     select pg_notify('surety', 'settings')`,
    [isOn, by, reason],
  );
}
