#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { Problem, codeOf } from '../problem.ts';
import { registerCommands } from './commands.ts';
import { NobodyReads } from './terminal.ts';
import { EXIT, UsageError } from './usage.ts';
import { wrap } from './text.ts';
import { version } from '../version.ts';

/** What files and directories are, who owns them and what room there is, is no bug of ours. */
const SAID_BY_THE_SYSTEM =
  /^E(?:ACCES|PERM|NOENT|NOTDIR|ISDIR|EXIST|NOTEMPTY|NOSPC|DQUOT|ROFS|MFILE|NFILE|LOOP|NAMETOOLONG|IO|BUSY|TXTBSY|FBIG)$/;

const program = new Command('surety')
  .description('May this tool be trusted right now? A durable trust layer for the tools of AI agents.')
  .version(version(), '-V, --version', 'print the version')
  .exitOverride()
  .showHelpAfterError('(--help shows how it is used)')
  .addHelpText(
    'after',
    `
Exit codes: 0 ok, 1 error, 2 usage, 3 denied, 4 ask.
The ledger is found by SURETY_DATABASE_URL, by what runs in SURETY_HOME
(./.surety), or by DATABASE_URL.

Start here:
  surety up          in one terminal
  surety demo        in another`,
  );

await registerCommands(program, process.argv[2]);

// A reader that has had enough (`surety rules publish x | head -1`) is no error, and stops nothing that is being changed.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: Error) => {
    if (codeOf(error) === 'EPIPE') return;
    // What runs goes on, and has its line in the audit: only showing it has failed.
    process.stderr.write(`error: the output cannot be written: ${error.message}\n`, () => undefined);
    process.once('exit', () => (process.exitCode ||= EXIT.error));
  });
}

try {
  await program.parseAsync();
} catch (error) {
  const code = exitCodeFor(error);
  // Not left to the event loop: what has failed half-way may have left something in it.
  process.stdout.write('', () => process.exit(code));
}

function exitCodeFor(error: unknown): number {
  if (error instanceof NobodyReads) return EXIT.ok;
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (SAID_BY_THE_SYSTEM.test(String(codeOf(error))) && error instanceof Error) {
    process.stderr.write(`error: ${error.message}\nThe system refuses it. \`surety doctor\` looks at every part.\n`);
    return EXIT.error;
  }
  if (!(error instanceof Problem)) {
    process.stderr.write(
      `This is a bug in surety:\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    return EXIT.error;
  }
  process.stderr.write(`error: ${error.message}\n${wrap(error.wayOut, 80).join('\n')}\n`);
  return error instanceof UsageError ? EXIT.usage : EXIT.error;
}
