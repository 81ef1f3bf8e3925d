import { connect } from 'surety';
import { parseRules } from '../src/domain/rules/parse-rules.ts';
import { createPool } from '../src/postgres/pool.ts';
import { publishRules } from '../src/postgres/rules.ts';
import { loadHistory } from './load.ts';
import { row } from './measure.ts';
import type { Row } from './measure.ts';
import { signalsPerSecond, startPeer } from './peer-client.ts';
import type { Peer } from './peer-client.ts';
import { untilApplied } from './stack.ts';
import type { BenchStack } from './stack.ts';

const TOOLS = 1000;
const OUTCOMES = 10_000;
/** A run takes 10,000 signals at the most, and then refuses them. */
const NAIVE_SIGNALS = 5000;
const ROUNDS = 5;
/** Each tool that is measured has failed so often, one bell at a time, that its history is nearly as long as any may get. */
const FAILURES = 62;
/** In a row: until then every failure rings and none is held against the tool. */
const THRESHOLD = 3;

/** Everything is started again on a long history: how soon is there an answer, and a change of state? */
export async function cold(stack: BenchStack, moved: (stack: BenchStack) => void): Promise<readonly Row[]> {
  const pool = createPool(stack.databaseUrl, { max: 4 });
  await loadHistory(pool, { tools: TOOLS, perTool: OUTCOMES, at: Date.now(), prefix: 'cold' });
  await publishRules(pool, parseRules({ toolRules: { 'cold-?': { consecutiveThreshold: THRESHOLD } } }), 'bench');
  const gate = await connect({ databaseUrl: stack.databaseUrl });
  const failure = { success: false, error: { message: 'upstream exploded', status: 500 } };
  await Promise.all(Array.from({ length: TOOLS }, (_, i) => gate.report({ tool: `cold-${i}`, ...failure })));
  await untilApplied(pool, 600_000);
  const measured = Array.from({ length: ROUNDS }, (_, round) => `cold-${round}`);
  for (let again = 1; again <= FAILURES; again += 1) {
    await Promise.all(measured.map((tool) => gate.report({ tool, success: true })));
    if (again === FAILURES) break;
    await Promise.all(measured.map((tool) => gate.report({ tool, ...failure })));
    await untilApplied(pool);
  }
  for (let again = 0; again < 3; again += 1) await gate.report({ tool: HELD, ...failure });
  await untilApplied(pool);
  await gate.close();
  await pool.end();
  const peer = await startPeer(stack);
  const events = await Promise.all(measured.map((tool) => eventsOf(peer, `tool:local/${tool}`)));
  await signalsPerSecond(await peer.start('naive'), NAIVE_SIGNALS);
  await (await peer.start('warm')).executeUpdate('answer');
  const naiveEvents = await eventsOf(peer, 'naive');
  await peer.stop();

  const seen = { decision: [] as number[], transition: [] as number[], naive: [] as number[] };
  let before = stack;
  for (let round = 0; round < ROUNDS; round += 1) {
    const now = await before.restart();
    before = now;
    moved(now);
    const tool = measured[round] ?? '';
    const ours = async () => {
      let begin = performance.now();
      const late = await connect({ databaseUrl: now.databaseUrl });
      const decisions = [late.check({ tool: HELD }), late.check({ tool })].map(({ decision }) => decision);
      seen.decision.push(performance.now() - begin);
      if (decisions.join() !== 'ask,allow') throw new Error(`the gate answered ${decisions.join()}`);

      begin = performance.now();
      const escalated = new Promise((done) => late.on('escalated', done));
      for (let i = 0; i < THRESHOLD; i += 1) await late.report({ tool, ...failure });
      await escalated;
      seen.transition.push(performance.now() - begin);
      await late.close();
    };
    const theirs = async () => {
      const naive = await startPeer(now);
      const begin = performance.now();
      await naive.client.workflow.getHandle('naive').executeUpdate('answer');
      seen.naive.push(performance.now() - begin);
      await naive.stop();
    };
    for (const side of round % 2 === 0 ? [ours, theirs] : [theirs, ours]) await side();
  }
  return [
    row('cold: first decision of a gate / naive entity’s first answer', 'ms', seen.decision, seen.naive),
    row('cold: first transition / naive entity’s first answer', 'ms', seen.transition, seen.naive),
    row('cold: events that a workflow replays for it / the naive entity’s', 'events', events, [naiveEvents]),
  ];
}

const HELD = 'held-before';

/** Of the run that is open. */
async function eventsOf({ client }: Peer, workflowId: string): Promise<number> {
  return (await client.workflow.getHandle(workflowId).describe()).historyLength;
}
