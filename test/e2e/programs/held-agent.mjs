// An agent whose tool is held, speaking with the ledger or with a server, as its environment says. The tool leaves a line in a
// file for each time it has really run; told to, it dies in between having been allowed and running. Plain JavaScript, so that
// fifty of them fit beside each other.
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'surety';

const { AGENT = 'agent', CALL_ID = '', LOG = '', DIES = '', TOOL = '', WAIT_MS, GO = '' } = process.env;
const gate = await connect({
  agent: AGENT,
  session: 's',
  connectWithinMs: 60_000,
  ...(WAIT_MS === undefined ? {} : { approvalWaitMs: Number(WAIT_MS) }),
});
const tool = gate.guard(TOOL, (args) => {
  if (DIES === 'yes') process.kill(process.pid, 'SIGKILL');
  appendFileSync(LOG, `${JSON.stringify({ agent: AGENT, callId: CALL_ID, args })}\n`);
  return 'done';
});
if (GO !== '') {
  console.log(gate.check({ tool: TOOL, args: { file: 'x' }, session: 's' }).via);
  while (!existsSync(GO)) await sleep(5);
}
try {
  await tool({ file: 'x' }, CALL_ID === '' ? {} : { callId: CALL_ID });
  console.log('ran');
} catch (error) {
  console.log(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}
await gate.close();
