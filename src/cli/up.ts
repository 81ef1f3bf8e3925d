import type { Command } from 'commander';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';

export interface UpOptions {
  readonly adopt?: boolean;
}

export function registerUp(program: Command): void {
  program
    .command('up')
    .description('start everything, and stop it with Ctrl-C')
    .option('--adopt', 'start an empty ledger under workflows that remember an earlier one')
    .addHelpText(
      'after',
      `
Environment:
  SURETY_HOME                         data directory (default: ./.surety)
  SURETY_TEMPORAL_PORT, SURETY_UI_PORT, SURETY_POSTGRES_PORT
  SURETY_HTTP_HOST, SURETY_HTTP_PORT  the HTTP API (default: 127.0.0.1:7400)
  DATABASE_URL                        a Postgres of your own instead
  TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, …   a Temporal of your own instead

surety.json of the project (then of ~/.surety) is published as rules, and
watched.
Ctrl-C stops everything in order.`,
    )
    // The worker takes a second to load, and no other command needs it.
    .action(action(async (cli: Cli, options: UpOptions) => (await import('./run-up.ts')).runUp(cli, options)));
}
