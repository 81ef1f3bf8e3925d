import type { Command } from 'commander';
import { partName } from '../domain/trust/part-view.ts';
import { BY, signedBy } from './actor.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { confirmed } from './confirm.ts';
import { withLedger } from './ledger.ts';
import { carryOut, preview, scopeIn } from './order.ts';
import type { OrderOptions } from './order.ts';
import { counted, subjectsMatching } from './subject.ts';
import { EXIT } from './usage.ts';

export function registerReset(program: Command): void {
  program
    .command('reset')
    .description('trust it again; nothing before counts')
    .argument('<pattern>', 'name, server/name, server:name, or a glob')
    .option('--scope <scope>', 'only this host, program or directory')
    .option('--reason <text>', 'why, for the audit')
    .option('--by <name>', BY)
    .option('--yes', 'do not ask')
    .option('--no-wait', 'return as soon as the order is recorded')
    .addHelpText(
      'after',
      `
Examples:
  surety reset bash --reason "looked at it: a test of the policy"
  surety reset http_request --scope api.example.com
  surety reset 'server:*' --yes`,
    )
    .action(action(reset));
}

async function reset(cli: Cli, pattern: string, options: OrderOptions): Promise<number> {
  const scope = scopeIn(options);
  return withLedger(cli.config, async (pool) => {
    const by = await signedBy(pool, cli.config, options.by, 'operator');
    const subjects = await subjectsMatching(pool, pattern);
    await preview(cli, pool, subjects);
    const of = scope === undefined ? '' : ` for ${partName(scope)}`;
    const question = `Trust ${counted(subjects)}${of} again and forget every failure?`;
    if (!(await confirmed(cli, question, options.yes))) return EXIT.error;
    const { reason } = options;
    await carryOut(cli, pool, { order: 'reset', subjects, scope, by, reason }, options.wait);
    return EXIT.ok;
  });
}
