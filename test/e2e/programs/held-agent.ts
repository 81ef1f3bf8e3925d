// An agent whose tool is held. The tool leaves a line in a file for each time it has really run; told to, it dies in between
// having been allowed and running.
import { appendFileSync } from 'node:fs';
import { connect } from 'surety';

const { DATABASE_URL = '', AGENT = 'agent', CALL_ID = '', LOG = '', DIES = '', TOOL = '', WAIT_MS } = process.env;
const gate = await connect({
  databaseUrl: DATABASE_URL,
  agent: AGENT,
  session: 's',
  ...(WAIT_MS === undefined ? {} : { approvalWaitMs: Number(WAIT_MS) }),
});
const tool = gate.guard(TOOL, (args: unknown) => {
  if (DIES === 'yes') process.kill(process.pid, 'SIGKILL');
  appendFileSync(LOG, `${JSON.stringify({ agent: AGENT, callId: CALL_ID, args })}\n`);
  return 'done';
});
try {
  await tool({ file: 'x' }, CALL_ID === '' ? {} : { callId: CALL_ID });
  console.log('ran');
} catch (error) {
  console.log(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}
await gate.close();
