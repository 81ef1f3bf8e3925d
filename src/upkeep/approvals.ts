import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type pg from 'pg';
import { tooLate } from '../domain/approval/approval.ts';
import type { ApprovalState, Question } from '../domain/approval/approval.ts';
import { bounded } from '../domain/key/bounded.ts';
import { approvalWorkflowId } from '../domain/approval/identity.ts';
import type { Verb } from '../domain/approval/message.ts';
import { nameOf } from '../domain/trust/describe.ts';
import type { ApprovalTerms } from '../domain/rules/rules.schema.ts';
import { refuseDecision } from '../postgres/approval-end.ts';
import { keyword, SuretyReason, SuretyServer, SuretyState, SuretyTool } from '../temporal/search-attributes.ts';
import * as messages from '../../workflows/approval-messages.ts';
import type { Ringing } from './ringing.ts';

const IN_ONE_ROUND = 100;
const AT_ONCE = 10;

/**
 * Starts the workflows of new questions and tells them of new decisions. Idempotent: ids decide what is the same. What
 * cannot be started or told keeps nobody else waiting; it is thrown at the end, and tried again.
 */
export async function carryApprovals(ringing: Ringing): Promise<{ more: boolean }> {
  const questions = await unstarted(ringing.pool);
  const failed = await inTurns(questions, (question) => start(ringing, question));
  const decisions = await unsignalled(ringing.pool);
  // In their order: of two decisions on one question the first counts.
  for (const decision of decisions) {
    await signal(ringing, decision).catch((error: unknown) => failed.push(error));
  }
  if (failed.length > 0) throw failed[0];
  return { more: questions.length === IN_ONE_ROUND || decisions.length === IN_ONE_ROUND };
}

interface NewQuestion {
  readonly id: string;
  readonly identity: string;
  readonly ordinal: number;
  readonly server: string;
  readonly tool: string;
  readonly agent: string | null;
  readonly owner: string | null;
  readonly isSecurity: boolean;
  readonly isShown: boolean;
  readonly hasSession: boolean;
  readonly because: string;
  readonly terms: ApprovalTerms;
  readonly askedAt: number;
  readonly expiresAt: number;
  readonly version: number;
  readonly level: number;
  readonly reminders: number;
  readonly consents: readonly string[];
  readonly agreed: string | null;
  readonly agreedUntil: number | null;
}

async function unstarted(pool: pg.Pool): Promise<readonly NewQuestion[]> {
  const found = await pool.query<NewQuestion>(
    `select id, identity, ordinal, server, tool, agent, owner, is_security as "isSecurity", because, terms,
       arguments is not null as "isShown", session is not null as "hasSession",
       round(extract(epoch from asked_at) * 1000)::float8 as "askedAt",
       round(extract(epoch from expires_at) * 1000)::float8 as "expiresAt", version, level, reminders, consents, agreed,
       (select (d.grant_terms ->> 'until')::float8 from approval_decision d where d.approval = a.id and d.verb = 'approve'
          and d.outcome = 'taken' order by d.id desc limit 1) as "agreedUntil"
     from approval a where started_at is null and status = 'pending' order by id limit ${IN_ONE_ROUND}`,
  );
  return found.rows;
}

async function start({ pool, client, taskQueue }: Ringing, question: NewQuestion): Promise<void> {
  const { id, identity, ordinal, server, tool, because, agent, owner, terms, askedAt } = question;
  const { isSecurity, isShown, hasSession } = question;
  const name = nameOf({ kind: 'tool', server, name: tool });
  const asked: Question = { agent, owner, isSecurity, isShown, hasSession };
  await client.workflow.start('approval', {
    workflowId: approvalWorkflowId(identity, ordinal),
    taskQueue,
    args: [{ id, askedAt, terms, question: asked, tool: name, because, carried: stateOf(question) }],
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: bounded(`may ${agent ?? 'somebody'} call ${name}?`, 200),
    memo: { approval: id },
    typedSearchAttributes: [
      { key: SuretyTool, value: keyword(name) },
      { key: SuretyServer, value: keyword(server) },
      { key: SuretyState, value: 'PENDING' },
      { key: SuretyReason, value: keyword(because) },
    ],
  });
  await pool.query('update approval set started_at = clock_timestamp() where id = $1', [id]);
}

/** As the row has it: a workflow that was lost is started again where it stood. */
function stateOf(question: NewQuestion): ApprovalState {
  const { version, askedAt, expiresAt, level, reminders, consents, agreed, agreedUntil } = question;
  const state = { status: 'pending', version, askedAt, expiresAt, level, reminders, consents } as const;
  return {
    ...state,
    ...(agreed === null ? {} : { agreed }),
    ...(agreed === null || agreedUntil === null ? {} : { agreedUntil }),
  };
}

interface NewDecision {
  readonly id: string;
  readonly approval: string;
  readonly verb: Verb;
  readonly by: string;
  readonly identity: string;
  readonly ordinal: number;
  readonly status: string;
  readonly endedBy: string | null;
  readonly endedAt: number | null;
}

async function unsignalled(pool: pg.Pool): Promise<readonly NewDecision[]> {
  const found = await pool.query<NewDecision>(
    `select d.id, d.approval, d.verb, d.by, a.identity, a.ordinal, a.status,
       a.ended_by as "endedBy", extract(epoch from a.ended_at)::float8 * 1000 as "endedAt"
     from approval_decision d join approval a on a.id = d.approval
     where d.signalled_at is null and (a.started_at is not null or a.status <> 'pending')
     order by d.id limit ${IN_ONE_ROUND}`,
  );
  return found.rows;
}

async function signal({ pool, client }: Ringing, decision: NewDecision): Promise<void> {
  const { id, verb, identity, ordinal, status } = decision;
  try {
    if (status !== 'pending') throw new WorkflowNotFoundError('over', '', undefined);
    await signalDecision(client, identity, ordinal, verb, id);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    await overOrLost(pool, decision);
    if (status === 'pending') return;
  }
  await pool.query('update approval_decision set signalled_at = clock_timestamp() where id = $1', [id]);
}

/** A question that is over takes no decision. One whose workflow somebody has ended by hand is asked anew, and then does. */
async function overOrLost(pool: pg.Pool, { id, approval, by, status, endedBy, endedAt }: NewDecision): Promise<void> {
  if (status === 'pending') {
    await pool.query('update approval set started_at = null where id = $1', [approval]);
  } else {
    const because = tooLate({ status, end: { at: endedAt ?? 0, by: endedBy } });
    await refuseDecision(pool, { approval, decision: id, by, because });
  }
}

export async function signalDecision(
  client: Client,
  identity: string,
  ordinal: number,
  verb: Verb,
  decision: string,
): Promise<void> {
  await client.workflow.getHandle(approvalWorkflowId(identity, ordinal)).signal(messages[verb], { decision });
}

/** Questions whose workflow may be gone: terminated by hand, or lost with Temporal's data. Starting it again is harmless. */
export async function restartApprovals(pool: pg.Pool): Promise<void> {
  await pool.query(
    `update approval set started_at = null
     where status = 'pending' and started_at < clock_timestamp() - interval '1 minute'`,
  );
}

export async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<unknown[]> {
  const waiting = [...items].reverse();
  const failed: unknown[] = [];
  const next = async () => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
      await work(item).catch((error: unknown) => failed.push(error));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return failed;
}
