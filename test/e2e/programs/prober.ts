// An agent under test, run as a process of its own: makes guarded calls when told to, and says what became of each. The
// tool leaves a mark while it runs, so that whoever runs at the same time is seen.
import { readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApprovalRequired, CallDenied, connect } from 'surety';

/** What a test asks for. */
export interface CallOrder {
  readonly id: number;
  readonly server?: string;
  readonly tool: string;
  readonly callId?: string;
  readonly runMs: number;
  readonly fails?: boolean;
}

export type Said =
  | { readonly ready: true }
  | { readonly id: number; readonly event: 'started'; readonly beside: readonly string[] }
  | { readonly id: number; readonly event: 'ran' | 'failed' | 'asked' | 'denied'; readonly because: string };

const { AGENT = '', RUNNING = '' } = process.env;
const mark = join(RUNNING, AGENT);
const say = (said: Said) => process.send?.(said);
const gate = await connect({ agent: AGENT, approvalWaitMs: 0 });

async function make({ id, server, tool, callId, runMs, fails }: CallOrder): Promise<void> {
  const run = async () => {
    writeFileSync(mark, '', { flag: 'wx' });
    say({ id, event: 'started', beside: readdirSync(RUNNING).filter((name) => name !== AGENT) });
    await sleep(runMs);
    unlinkSync(mark);
    if (fails === true) throw new Error('it exploded');
    return { data: 1 };
  };
  const guarded = gate.guard({ name: tool, ...(server === undefined ? {} : { server }) }, run);
  try {
    await guarded({}, callId === undefined ? {} : { callId });
    say({ id, event: 'ran', because: '' });
  } catch (error) {
    const because = error instanceof Error ? error.message : String(error);
    const event = error instanceof ApprovalRequired ? 'asked' : error instanceof CallDenied ? 'denied' : 'failed';
    say({ id, event, because });
  }
}

process.on('message', (order: CallOrder) => void make(order));
process.once('disconnect', () => process.exit());
say({ ready: true });
