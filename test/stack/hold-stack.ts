// Run as a process of its own by the tests that kill it: brings a stack up, says so, and stays.
import { loadConfig } from '../../src/config.ts';
import { startStack } from '../../src/stack/stack.ts';

await startStack(loadConfig(), { progress: (message) => console.log(message) });
console.log('READY');
setInterval(() => undefined, 60_000);
