// Without a wrapper: ask before the call, report after it. Run it while `npm start` runs in another terminal.
import { connect } from 'surety';

const gate = await connect({ agent: 'example', session: 'demo' });
const search = gate.tool('example-server', 'search'); // keep it: checking costs a comparison

const decision = search.check({ query: 'weather' });
console.log(`${decision.decision}: ${decision.because}`);

if (decision.decision === 'allow') {
  const startedAt = Date.now();
  const result = { content: [{ type: 'text', text: 'sunny' }] }; // what the tool gave
  const callId = await gate.report({
    server: 'example-server',
    tool: 'search',
    args: { query: 'weather' },
    result,
    startedAt,
  });
  console.log(`recorded as ${callId}`);
}

await gate.close();
