import { Argument } from 'commander';
import type { Command } from 'commander';
import { readKillSwitch, throwKillSwitch } from '../postgres/kill-switch.ts';
import { BY, signedBy } from './actor.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { withLedger } from './ledger.ts';
import { plain } from './text.ts';
import { clock } from './time.ts';
import { EXIT, UsageError } from './usage.ts';

interface KillSwitchOptions {
  readonly reason?: string;
  readonly by?: string;
  readonly json?: boolean;
}

export function registerKillSwitch(program: Command): void {
  program
    .command('kill-switch')
    .description('stop every tool that Surety runs, at once')
    .addArgument(new Argument('<what>', 'what to do').choices(['on', 'off', 'status']))
    .option('--reason <text>', 'why, for the audit')
    .option('--by <name>', BY)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
On: no call begins, what waits for a person is refused once it is decided, and
what runs is ended within a second.
Exit code of status: 0 off, 3 on.

Examples:
  surety kill-switch on --reason "incident 42: an agent deletes what it should not"
  surety kill-switch off --reason "incident 42 is over"`,
    )
    .action(action(killSwitch));
}

async function killSwitch(cli: Cli, what: 'on' | 'off' | 'status', options: KillSwitchOptions): Promise<number> {
  const { terminal } = cli;
  const { reason } = options;
  if (what !== 'status' && reason === undefined) {
    throw new UsageError('Why?', `surety kill-switch ${what} --reason TEXT`);
  }
  return withLedger(cli.config, async (pool) => {
    if (what !== 'status') {
      const by = await signedBy(pool, cli.config, options.by, 'operator');
      await throwKillSwitch(pool, what === 'on', by, reason ?? '');
    }
    const state = await readKillSwitch(pool);
    const isOn = state?.isOn === true;
    if (options.json === true) terminal.printJson(state ?? { isOn });
    else if (state === undefined) terminal.print('Off; it was never used.');
    else {
      const since = `${clock(state.at)} UTC by ${plain(state.by)}: ${plain(state.reason)}`;
      terminal.print(isOn ? `On: nothing runs. Thrown ${since}` : `Off since ${since}`);
    }
    return what === 'status' && isOn ? EXIT.denied : EXIT.ok;
  });
}
