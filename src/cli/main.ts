#!/usr/bin/env node
import { loadConfig } from '../config.ts';
import { bringUp } from '../up.ts';

const up = await bringUp(loadConfig(), {
  progress: (m) => process.stdout.write(`${m}\n`),
  adopt: false,
  onTrouble: (m) => process.stderr.write(`${m}\n`),
});
process.stdout.write(`ready ${up.stack.uiUrl ?? ''}\n`);
process.once('SIGINT', () => void up.stop().then(() => process.exit(0)));
process.once('SIGTERM', () => void up.stop().then(() => process.exit(0)));
