// An agent's fetch tool behind the gate. Run it while `npm start` runs in another terminal: npx tsx examples/guarded-fetch.ts
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApprovalRequired, connect } from 'surety';

// A service that has a bad day.
const service = createServer((_, response) => response.writeHead(503).end('upstream exploded')).listen(0, '127.0.0.1');
await new Promise((ready) => service.once('listening', ready));
const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/data`;

// With nobody at hand to decide, a call that is held is not waited for.
const gate = await connect({ agent: 'example', approvalWaitMs: 0 });
gate.on('escalated', ({ notice }) => console.log(`! ${notice}`));

const fetchPage = gate.guard('example_fetch', async ({ url }: { url: string }) => {
  const response = await fetch(url);
  return { status: response.status, body: await response.text() };
});

for (let attempt = 1; attempt <= 4; attempt += 1) {
  try {
    const { status } = await fetchPage({ url });
    console.log(`call ${attempt}: HTTP ${status}`);
  } catch (error) {
    if (!(error instanceof ApprovalRequired)) throw error;
    console.log(`call ${attempt}: not made. A person would read:\n\n${error.prompt}\n`);
  }
}

await gate.close();
service.close();
