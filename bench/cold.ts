import { connect } from 'surety';
import { createPool } from '../src/postgres/pool.ts';
import { loadHistory } from './load.ts';
import { row } from './measure.ts';
import type { Row } from './measure.ts';
import { signalsPerSecond, startPeer } from './peer-client.ts';
import { untilApplied } from './stack.ts';
import type { BenchStack } from './stack.ts';

const TOOLS = 1000;
const OUTCOMES = 10_000;
/** A run takes 10,000 signals at the most, and then refuses them. */
const NAIVE_SIGNALS = 5000;
const ROUNDS = 5;

/** Everything is started again on a long history: how soon is there an answer, and a change of state? */
export async function cold(stack: BenchStack, moved: (stack: BenchStack) => void): Promise<readonly Row[]> {
  const pool = createPool(stack.databaseUrl, { max: 4 });
  await loadHistory(pool, { tools: TOOLS, perTool: OUTCOMES, at: Date.now(), prefix: 'cold' });
  const gate = await connect({ databaseUrl: stack.databaseUrl });
  const failure = { success: false, error: { message: 'upstream exploded', status: 500 } };
  await Promise.all(Array.from({ length: TOOLS }, (_, i) => gate.report({ tool: `cold-${i}`, ...failure })));
  await untilApplied(pool, 600_000);
  await gate.close();
  await pool.end();
  const peer = await startPeer(stack);
  await signalsPerSecond(await peer.start('naive'), NAIVE_SIGNALS);
  await (await peer.start('warm')).executeUpdate('answer');
  await peer.stop();

  const seen = { decision: [] as number[], transition: [] as number[], naive: [] as number[] };
  for (let round = 0, now = stack; round < ROUNDS; round += 1) {
    now = await now.restart();
    moved(now);
    const tool = `cold-${round}`;
    let begin = performance.now();
    const late = await connect({ databaseUrl: now.databaseUrl });
    late.check({ tool });
    seen.decision.push(performance.now() - begin);

    begin = performance.now();
    const escalated = new Promise((done) => late.on('escalated', done));
    for (let i = 0; i < 2; i += 1) await late.report({ tool, ...failure });
    await escalated;
    seen.transition.push(performance.now() - begin);
    await late.close();

    const naive = await startPeer(now);
    begin = performance.now();
    await naive.client.workflow.getHandle('naive').executeUpdate('answer');
    seen.naive.push(performance.now() - begin);
    await naive.stop();
  }
  return [
    row('cold: first decision of a gate / naive entity’s first answer', 'ms', seen.decision, seen.naive),
    row('cold: first transition / naive entity’s first answer', 'ms', seen.transition, seen.naive),
  ];
}
