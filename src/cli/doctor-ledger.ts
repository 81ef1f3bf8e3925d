import type pg from 'pg';
import type { Config } from '../config.ts';
import { plural } from '../domain/trust/tally.ts';
import { locateLedger } from '../ledger-location.ts';
import { partitionsFor } from '../postgres/partitions.ts';
import { createPool } from '../postgres/pool.ts';
import { readHealth } from '../postgres/read-health.ts';
import type { Health } from '../postgres/read-health.ts';
import { currentRules } from '../postgres/rules.ts';
import type { PublishedRules } from '../postgres/rules.ts';
import { failed, failedBy, note, ok } from './finding.ts';
import type { Finding } from './finding.ts';
import { placeOf, requireLedger } from './ledger.ts';
import { roughly } from './time.ts';

const DAY_MS = 86_400_000;
const LATE_SECONDS = 60;
const SKEW_WORTH_A_NOTE_MS = 1000;
const SKEW_TOO_FAR_MS = 30_000;

/** Answers the installation the database belongs to, if it could be asked. */
export async function checkLedger(config: Config, tell: (finding: Finding) => void): Promise<string | undefined> {
  let pool: pg.Pool | undefined;
  try {
    const url = await locateLedger(config);
    pool = createPool(url, { max: 1, name: 'surety doctor' });
    await requireLedger(pool, url);
    const before = Date.now();
    const health = await readHealth(pool, before - DAY_MS);
    const skewMs = health.now - (before + Date.now()) / 2;
    for (const finding of findingsOf(health, placeOf(url), skewMs)) tell(finding);
    tell(rulesInForce(await currentRules(pool)));
    return health.installation ?? undefined;
  } catch (error) {
    tell(failedBy('Ledger', error, 'Check DATABASE_URL and that the server runs.'));
    return undefined;
  } finally {
    await pool?.end();
  }
}

function findingsOf(health: Health, place: string, skewMs: number): Finding[] {
  const { schema, installation } = health;
  return [
    ok('Ledger', `${place}, schema ${schema?.name.replace(/\.sql$/, '') ?? 'unknown'}`),
    installation === null
      ? failed('Installation', 'the database has not been claimed by one', 'Run `surety up` against it once.')
      : ok('Installation', installation),
    backlog(health),
    deadlines(health),
    health.disagreements === 0
      ? ok('Disagreements', 'none in the last 24 h')
      : note(
          'Disagreements',
          `${health.disagreements} between workflows and ledger in the last 24 h`,
          'Expected after one of the two was restored from a backup; see docs/operate.md. surety history <tool> shows them.',
        ),
    partitions(health),
    clock(skewMs),
  ];
}

function rulesInForce({ version, unreadable }: PublishedRules): Finding {
  if (unreadable === undefined) return ok('Rules', `version ${version}`);
  const found = `version ${unreadable.version} cannot be read by this Surety (${unreadable.complaint}); ${version} holds`;
  return failed('Rules', found, 'Run the Surety that published it, or publish rules again: surety rules publish.');
}

function backlog({ waiting, waitingSeconds }: Health): Finding {
  if (waiting === 0) return ok('Backlog', 'everything that must be applied has been');
  const longest = waitingSeconds ?? 0;
  const found = `${waiting} of the tools and servers have rows to apply, one for ${roughly(longest * 1000)}`;
  return longest < LATE_SECONDS ? ok('Backlog', found) : failed('Backlog', found, 'No worker applies them: see below.');
}

function deadlines({ overdue, overdueSeconds }: Health): Finding {
  if ((overdueSeconds ?? 0) < LATE_SECONDS) return ok('Deadlines', 'none is late');
  const found = `${overdue} passed without effect, the oldest ${roughly((overdueSeconds ?? 0) * 1000)} ago`;
  return failed('Deadlines', found, 'No worker acts on them: see below.');
}

function partitions({ partitions: present, strays, now }: Health): Finding {
  // At the turn of the week the last of the three is made within minutes; the first two must be there.
  const missing = partitionsFor(now)
    .slice(0, 2)
    .filter((name) => !present.includes(name));
  if (missing.length > 0) {
    const wayOut = 'A running worker makes them within ten minutes; `surety up` makes them at once.';
    return failed('Partitions', `missing for the coming weeks: ${missing.join(', ')}`, wayOut);
  }
  return strays === 0
    ? ok('Partitions', 'there for this week and the next')
    : note('Partitions', `all there; ${plural(strays, 'row')} came with ids of another time: a caller's clock is off`);
}

function clock(skewMs: number): Finding {
  const size = Math.abs(skewMs);
  const found = `${roughly(size)} ${skewMs < 0 ? 'behind' : 'ahead of'} this machine's`;
  if (size < SKEW_WORTH_A_NOTE_MS) return ok("Postgres's clock", 'agrees with this machine');
  const wayOut = 'Have both kept by NTP. Reports keep their order; deadlines shown here are off by as much.';
  return size < SKEW_TOO_FAR_MS ? note("Postgres's clock", found, wayOut) : failed("Postgres's clock", found, wayOut);
}
