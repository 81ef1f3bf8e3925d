import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveHttp } from '../../src/http/serve.ts';
import { askForApproval } from '../../src/postgres/approval-ask.ts';
import { newOutcomeId } from '../../src/postgres/outcome-id.ts';
import { createToken } from '../../src/postgres/tokens.ts';
import { DEFAULT_RULE } from '../../src/domain/rules/rule.ts';
import type { ApprovalTerms } from '../../src/domain/rules/rules.schema.ts';
import { decideAs } from '../support/decide-as.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { failedTasks } from './support.ts';

const [PATIENT, HASTY] = [950, 50];
const patient: ApprovalTerms = { ...DEFAULT_RULE.approval, expiresAfterSeconds: 3600, remindAt: [] };
const hasty: ApprovalTerms = { ...patient, expiresAfterSeconds: 10, remindAt: [0.5] };

/** Of Temporal's own timers, by its own clock. */
const MOST_LATE_MS = 5000;

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

let installation: Installation;

beforeAll(async () => {
  installation = await createInstallation();
  await installation.startWorker();
  const gate = await installation.connect();
  await gate.report({ tool: 'popular', success: true });
});
afterAll(() => installation.close());

async function askAll(many: number, terms: ApprovalTerms): Promise<string[]> {
  const { pool } = installation;
  const found = await pool.query<{ id: number }>("select id from subject where name = 'popular'");
  const subject = found.rows[0]?.id ?? 0;
  const call = { toolKey: 'tool:local/popular', server: 'local', tool: 'popular', scope: undefined, owner: undefined };
  const held = { heldSince: 0, isSecurity: false, state: 'ESCALATED' } as const;
  const why = { because: 'it failed', held, risk: 'write', terms, mostOpen: 1000 };
  const ids: string[] = [];
  let next = 0;
  const asker = async () => {
    for (let n = next++; n < many; n = next++) {
      const about = {
        agent: `agent-${n % 7}`,
        session: 's',
        digest: `${many}-${n}`,
        args: { n },
        definition: undefined,
      };
      const asked = await askForApproval(pool, { ...call, ...why, ...about, subject, callId: newOutcomeId() });
      ids.push(asked.id);
    }
  };
  await Promise.all(Array.from({ length: 10 }, asker));
  return ids;
}

const count = async (where: string) =>
  (await installation.pool.query<{ n: number }>(`select count(*)::int as n from approval where ${where}`)).rows[0]?.n;

test(`with ${PATIENT} questions open each is listed once and decided at once, and the ladder of ${HASTY} more goes on`, async () => {
  const open = await askAll(PATIENT, patient);
  await eventually(async () => expect(await count('started_at is null')).toBe(0), 120_000);
  // First tasks are taken in turn: until each has had its own, a new question's ladder waits behind them.
  await eventually(async () => expect(await withTimer()).toBe(PATIENT), 120_000);
  const quick = await askAll(HASTY, hasty);
  expect(new Set(await listed())).toEqual(new Set([...open, ...quick]));

  // The youngest are not behind the others.
  const decided = open.slice(-10);
  await Promise.all(
    decided.map((approval) => decideAs(installation.pool, { approval, verb: 'approve', by: 'ann', reason: '' })),
  );
  await eventually(async () => expect(await count("status = 'approved'")).toBe(decided.length), 60_000);
  await eventually(async () => expect(await count("status = 'expired'")).toBe(HASTY), 60_000);
  expect(await count("status = 'expired' and reminders <> 1")).toBe(0);
  expect(await count("status = 'pending'")).toBe(PATIENT - decided.length);
  const climbed = await installation.pool.query<{ actions: readonly string[]; early: boolean }>(
    `select array_agg(x.action order by x.id) as actions, bool_or(x.at < case x.action
       when 'approval expired' then a.expires_at else a.asked_at + (a.expires_at - a.asked_at) / 2 end) as early
     from audit x join approval a on a.id::text = x.detail ->> 'approval' where a.id = any($1) group by a.id`,
    [quick],
  );
  // None is missing, none comes twice, out of turn or before its time.
  expect(climbed.rows).toEqual(quick.map(() => ({ actions: ['approval reminded', 'approval expired'], early: false })));
  await expectTimersInTime([...open, ...quick]);
  expect(await failedTasks(installation)).toEqual([]);
}, 360_000);

interface Laddered {
  readonly id: string;
  readonly workflow: string;
  readonly askedAt: number;
  readonly expiresAt: number;
  readonly terms: ApprovalTerms;
}

/**
 * By the histories alone, and so whatever else the machine does: every timer is set, by the clock of the task that set it,
 * for the moment that its rung is due, and Temporal fires none before that, nor much later.
 */
async function expectTimersInTime(ids: readonly string[]): Promise<void> {
  const { rows } = await installation.pool.query<Laddered>(
    `select id, 'approval:' || identity || '/' || ordinal as workflow, terms,
       round(extract(epoch from asked_at) * 1000)::float8 as "askedAt",
       round(extract(epoch from expires_at) * 1000)::float8 as "expiresAt" from approval where id = any($1)`,
    [ids],
  );
  expect(rows).toHaveLength(ids.length);
  for (const { workflow, askedAt, expiresAt, terms } of rows) {
    const { events } = await installation.client.workflow.getHandle(workflow).fetchHistory();
    const timers = timersIn(events ?? []);
    const due = [...terms.remindAt.map((share) => askedAt + Math.round((expiresAt - askedAt) * share)), expiresAt];
    const missed = timers.map(({ setAt, forMs }, rung) => forMs - Math.max(1, (due[rung] ?? NaN) - setAt));
    expect(timers).toHaveLength(due.length);
    expect(Math.max(...missed.map(Math.abs)), workflow).toBeLessThanOrEqual(1);
    const fired = timers.flatMap(({ firesAt, firedAt }) => (firedAt === undefined ? [] : [firedAt - firesAt]));
    expect(fired).toHaveLength(terms.remindAt.length > 0 ? due.length : 0);
    expect(Math.min(0, ...fired), workflow).toBe(0);
    expect(Math.max(0, ...fired), workflow).toBeLessThan(MOST_LATE_MS);
  }
}

interface Timer {
  /** By the clock of the task that set it. */
  readonly setAt: number;
  readonly forMs: number;
  readonly firesAt: number;
  readonly firedAt: number | undefined;
}

function timersIn(events: readonly HistoryEvent[]): readonly Timer[] {
  const timeOf = (id: unknown) => msOf(events.find(({ eventId }) => String(eventId) === String(id))?.eventTime);
  return events.flatMap(({ eventId, eventTime, timerStartedEventAttributes: started }) => {
    if (started == null) return [];
    const completed = events.find((event) => String(event.eventId) === String(started.workflowTaskCompletedEventId));
    const forMs = msOf(started.startToFireTimeout);
    const fired = events.find(
      ({ timerFiredEventAttributes: of }) => of != null && String(of.startedEventId) === String(eventId),
    );
    return {
      setAt: timeOf(completed?.workflowTaskCompletedEventAttributes?.startedEventId),
      forMs,
      firesAt: msOf(eventTime) + forMs,
      firedAt: fired === undefined ? undefined : msOf(fired.eventTime),
    };
  });
}

function msOf(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds ?? NaN) * 1000 + Math.floor((time?.nanos ?? 0) / 1e6);
}

/** How many questions have a timer that will bring them to mind, or end them. */
const withTimer = async () =>
  (await installation.client.workflow.count("WorkflowType = 'approval' and SuretyDueAt is not null")).count;

/** As an inbox turns the pages; none is shown twice. */
async function listed(): Promise<string[]> {
  const api = await serveHttp({ databaseUrl: installation.databaseUrl, host: '127.0.0.1', port: 0 });
  const { secret } = await createToken(installation.pool, {
    ...{ name: 'alice', owner: 'alice', roles: ['approver'], createdBy: 'test' },
  });
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = await fetch(`${api.url}/v1/approvals?limit=200${query}`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    const body = (await page.json()) as { approvals: { id: string }[]; cursor: string | null };
    ids.push(...body.approvals.map(({ id }) => id));
    ({ cursor } = body);
  }
  await api.close();
  expect(ids).toHaveLength(new Set(ids).size);
  return ids;
}
