// A client under test, run as a process of its own: reports without pause, and notes in a file what was acknowledged.
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'surety';
import type { Report } from 'surety';
import { uuidv7 } from 'uuidv7';
import { createRandom } from '../kills-random.ts';
import { AGENTS, createScene } from '../kills-scene.ts';

const { DATABASE_URL = '', LIFE = '', SEED = '0', SENT = '', ACKNOWLEDGED = '' } = process.env;
const random = createRandom(Number(SEED));
const scene = createScene(random);
// Each line is on the disk before the next report: what this process believes survives its own death.
const [sent, acknowledged] = [openSync(SENT, 'as'), openSync(ACKNOWLEDGED, 'as')];
// Before anything is waited for: whoever is told to stop while it connects stops in order, too.
const stopping = new AbortController();
process.once('SIGTERM', () => {
  stopping.abort();
});
const gates = await Promise.all(
  AGENTS.map(async (agent) => ({ agent, gate: await connect({ databaseUrl: DATABASE_URL, agent }) })),
);
const pending = new Set<Promise<void>>();
let number = 0;

function send(report: Report): void {
  number += 1;
  const callId = random.chance(0.5) ? uuidv7() : `call ${LIFE}.${number}`;
  const { agent, gate } = random.pick(gates);
  const line = `${JSON.stringify([callId, report.server ?? 'local', report.tool, agent])}\n`;
  writeSync(sent, line);
  const done = gate
    .report({ ...report, callId })
    .then(() => void writeSync(acknowledged, line))
    .finally(() => pending.delete(done));
  pending.add(done);
}

for (let turn = 0; !stopping.signal.aborted; turn += 1) {
  if (turn % 50 === 0) scene.newcomer(Number(LIFE) * 1000 + turn / 50).forEach(send);
  for (let burst = random.chance(0.02) ? 40 : random.between(0, 3); burst > 0; burst -= 1) send(scene.next(Date.now()));
  await sleep(random.between(5, 25));
}
await Promise.all(pending);
await Promise.all(gates.map(({ gate }) => gate.close()));
