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

export function registerBlock(program: Command): void {
  program
    .command('block')
    .description('deny every call, until a reset')
    .argument('<pattern>', 'name, server/name, server:name, or a glob')
    .requiredOption('--reason <text>', 'why: whoever is denied reads it')
    .option('--scope <scope>', 'only this host, program or directory')
    .option('--by <name>', BY)
    .option('--yes', 'do not ask')
    .option('--no-wait', 'return as soon as the order is recorded')
    .addHelpText(
      'after',
      `
A tool that was never reported cannot be blocked here: put it on the blocklist in surety.json.

Examples:
  surety block bash --reason "incident 42"
  surety block http_request --scope api.example.com --reason "wrong data since noon"`,
    )
    .action(action(block));
}

async function block(cli: Cli, pattern: string, options: OrderOptions): Promise<number> {
  const scope = scopeIn(options);
  return withLedger(cli.config, async (pool) => {
    const by = await signedBy(pool, cli.config, options.by, 'operator');
    const subjects = await subjectsMatching(pool, pattern);
    await preview(cli, pool, subjects);
    const of = scope === undefined ? '' : ` for ${partName(scope)}`;
    const question = `Deny every call of ${counted(subjects)}${of}?`;
    if (!(await confirmed(cli, question, options.yes))) return EXIT.error;
    const { reason } = options;
    await carryOut(cli, pool, { order: 'block', subjects, scope, by, reason }, options.wait);
    return EXIT.ok;
  });
}
