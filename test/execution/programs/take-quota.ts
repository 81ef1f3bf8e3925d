// Takes some calls out of a session's quota, all at once, and prints how many it got.
import { takeQuota } from '../../../src/postgres/execution-quota.ts';
import { createPool } from '../../../src/postgres/pool.ts';

const [url = '', count = '0', most = '0'] = process.argv.slice(2);
const pool = createPool(url, { max: 8 });
const answers = await Promise.all(
  Array.from({ length: Number(count) }, () =>
    takeQuota(pool, { agent: 'a', session: 's', most: Number(most), windowSeconds: 3600 }),
  ),
);
process.stdout.write(String(answers.filter(({ allowed }) => allowed).length));
await pool.end();
