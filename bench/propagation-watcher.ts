// The other process: asks about every tool over and over, and says when the answer is no longer `allow`.
import { connect } from 'surety';

const [databaseUrl = '', tools = '0'] = process.argv.slice(2);
const gate = await connect({ databaseUrl });
const waiting = new Set(Array.from({ length: Number(tools) }, (_, i) => `far-${i}`));
console.log('ready');
setInterval(() => {
  for (const tool of waiting) {
    if (gate.tool('local', tool).check().decision === 'allow') continue;
    waiting.delete(tool);
    console.log(`${tool} ${Date.now()}`);
  }
}, 1);
