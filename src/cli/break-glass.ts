import type { Command } from 'commander';
import { breakGlass as openOrClose, readSettings } from '../postgres/snapshot.ts';
import { BY, signedBy } from './actor.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { confirmed } from './confirm.ts';
import { withLedger } from './ledger.ts';
import { plain } from './text.ts';
import { clock, parseDuration, roughly } from './time.ts';
import { EXIT, UsageError } from './usage.ts';

interface BreakGlassOptions {
  readonly for?: number;
  readonly reason?: string;
  readonly close?: boolean;
  readonly by?: string;
  readonly yes?: boolean;
}

export function registerBreakGlass(program: Command): void {
  program
    .command('break-glass')
    .description('allow everything but the blocklist, for a while')
    .option('--for <duration>', 'for how long: 15m, 1h', parseDuration)
    .option('--reason <text>', 'why, for the audit')
    .option('--close', 'end it before its time')
    .option('--by <name>', BY)
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
Examples:
  surety break-glass --for 15m --reason "incident 42: the gate holds up the fix"
  surety break-glass --close`,
    )
    .action(action(breakGlass));
}

async function breakGlass(cli: Cli, options: BreakGlassOptions): Promise<number> {
  const { terminal } = cli;
  const { for: forMs, reason } = options;
  if (options.close !== true && (forMs === undefined || reason === undefined)) {
    throw new UsageError('For how long, and why?', 'surety break-glass --for 15m --reason TEXT, or --close to end it.');
  }
  return withLedger(cli.config, async (pool) => {
    const by = await signedBy(pool, cli.config, options.by, 'operator');
    const { rules, brokenGlassUntil } = await readSettings(pool);
    const isOpen = brokenGlassUntil !== null && brokenGlassUntil > Date.now();
    if (options.close === true) {
      if (isOpen) await openOrClose(pool, Date.now(), by, reason ?? 'closed');
      terminal.print(isOpen ? 'Closed: the gate holds again what is not trusted.' : 'It is not open.');
      return EXIT.ok;
    }
    const until = Date.now() + (forMs ?? 0);
    terminal.print(
      `Every gate will allow every call for ${roughly(forMs ?? 0)}, whatever is held against it, except the blocklist:`,
    );
    terminal.print(`  tools: ${rules.blocklist.length === 0 ? 'none' : plain(rules.blocklist.join(', '))}`);
    terminal.print('  commands: what the shell policy blocks unconditionally (sudo, curl, mkfs and their like)');
    if (isOpen) terminal.print(`It is open already, until ${clock(brokenGlassUntil)} UTC; this replaces that.`);
    if (!(await confirmed(cli, 'Break the glass?', options.yes))) return EXIT.error;
    await openOrClose(pool, until, by, reason ?? '');
    terminal.print(`Open until ${clock(until)} UTC. Sooner: surety break-glass --close`);
    return EXIT.ok;
  });
}
