#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { Problem, codeOf } from '../problem.ts';
import { registerApprovals } from './approvals.ts';
import { registerAudit } from './audit.ts';
import { registerBlock } from './block.ts';
import { registerBreakGlass } from './break-glass.ts';
import { registerCheck } from './check.ts';
import { registerDecide } from './decide.ts';
import { registerDemo } from './demo.ts';
import { registerDoctor } from './doctor.ts';
import { registerExec } from './exec.ts';
import { registerExplain } from './explain.ts';
import { registerFiles } from './files.ts';
import { registerFetch } from './fetch.ts';
import { registerGrants } from './grants.ts';
import { registerHistory } from './history.ts';
import { registerKillSwitch } from './kill-switch.ts';
import { registerPolicy } from './policy.ts';
import { registerRecover } from './recover.ts';
import { registerReport } from './report.ts';
import { registerReset } from './reset.ts';
import { registerRules } from './rules.ts';
import { registerServe } from './serve.ts';
import { registerSimulate } from './simulate.ts';
import { registerStatus } from './status.ts';
import { registerToken } from './token.ts';
import { registerUp } from './up.ts';
import { registerWebhooks } from './webhooks.ts';
import { EXIT, UsageError } from './usage.ts';
import { wrap } from './text.ts';
import { version } from '../version.ts';

const program = new Command('surety')
  .description('May this tool be trusted right now? A durable trust layer for the tools of AI agents.')
  .version(version(), '-V, --version', 'print the version')
  .exitOverride()
  .showHelpAfterError('(--help shows how it is used)')
  .addHelpText(
    'after',
    `
Exit codes: 0 ok, 1 error, 2 usage, 3 denied, 4 ask.
The ledger is found by DATABASE_URL, or by what runs in SURETY_HOME (./.surety).

Start here:
  surety up          in one terminal
  surety demo        in another`,
  );

program.commandsGroup('Run:');
program.helpCommand(true);
for (const register of [registerUp, registerServe, registerDemo, registerDoctor]) register(program);
program.commandsGroup('Look:');
for (const register of [registerStatus, registerHistory, registerExplain]) register(program);
program.commandsGroup('Call:');
for (const register of [registerCheck, registerReport, registerFetch]) register(program);
program.commandsGroup('Order:');
for (const register of [registerReset, registerBlock, registerRecover, registerBreakGlass, registerKillSwitch])
  register(program);
program.commandsGroup('Decide:');
for (const register of [registerApprovals, registerDecide, registerGrants, registerToken, registerWebhooks])
  register(program);
program.commandsGroup('Rules:');
for (const register of [registerRules, registerPolicy, registerSimulate]) register(program);

program.commandsGroup('Tools:');
for (const register of [registerExec, registerFiles, registerAudit]) register(program);

// A reader that has had enough (`surety history x | head`) is no error.
process.stdout.on('error', (error) => {
  if (codeOf(error) === 'EPIPE') process.exit(EXIT.ok);
  throw error;
});

try {
  await program.parseAsync();
} catch (error) {
  const code = exitCodeFor(error);
  // Not left to the event loop: what has failed half-way may have left something in it.
  process.stdout.write('', () => process.exit(code));
}

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (!(error instanceof Problem)) {
    process.stderr.write(
      `This is a bug in surety:\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    return EXIT.error;
  }
  process.stderr.write(`error: ${error.message}\n${wrap(error.wayOut, 80).join('\n')}\n`);
  return error instanceof UsageError ? EXIT.usage : EXIT.error;
}
