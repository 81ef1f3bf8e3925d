import { runShell } from '../../../src/execution/shell/run.ts';

/** Runs a command as a call would, and prints what it has said. */
const { stdout } = await runShell({
  command: process.argv[2] ?? '',
  ...{ bash: '/bin/bash', cwd: '/', env: { PATH: process.env['PATH'] ?? '' } },
  ...{ timeoutMs: 5000, maxOutputBytes: 10_000 },
  sandbox: { kind: 'none', because: 'not wanted here' },
  confinement: { writable: [], hidden: [], readOnly: [], network: true },
});
process.stdout.write(stdout);
