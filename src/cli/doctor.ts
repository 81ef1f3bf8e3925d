import type { Command } from 'commander';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { checkLedger } from './doctor-ledger.ts';
import { checkMachine } from './doctor-machine.ts';
import type { Finding } from './finding.ts';
import type { Style } from './terminal.ts';
import { wrap } from './text.ts';
import { EXIT } from './usage.ts';

const MARK: Readonly<Record<Finding['verdict'], { mark: string; style: Style }>> = {
  ok: { mark: '✓', style: 'green' },
  note: { mark: '!', style: 'yellow' },
  failed: { mark: '✗', style: 'red' },
};

export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description('look at every part; say what to do')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code 1 if any check fails (✗); a remark (!) is no failure.')
    .action(action(doctor));
}

async function doctor(cli: Cli, options: { json?: boolean }): Promise<number> {
  const findings: Finding[] = [];
  const note = (finding: Finding) => {
    findings.push(finding);
    if (options.json !== true) print(cli, finding);
  };
  const { config } = cli;
  const stackRuns = await checkMachine(config, note);
  const canAsk = {
    ledger: stackRuns || config.databaseUrl !== undefined,
    temporal: stackRuns || config.temporal.external,
  };
  const installation = canAsk.ledger ? await checkLedger(config, note) : undefined;
  if (canAsk.temporal) {
    // Temporal's client takes longer to load than all of the rest.
    const { checkTemporal } = await import('./doctor-temporal.ts');
    await checkTemporal(config, installation, note);
  }
  const failed = findings.filter(({ verdict }) => verdict === 'failed').length;
  if (options.json === true) cli.terminal.printJson({ ok: failed === 0, findings });
  else cli.terminal.print(failed === 0 ? '\nAll is well.' : `\n${failed} of ${findings.length} checks failed.`);
  return failed === 0 ? EXIT.ok : EXIT.error;
}

function print({ terminal }: Cli, { verdict, what, found, wayOut }: Finding): void {
  const { mark, style } = MARK[verdict];
  const [first = '', ...rest] = wrap(`${what}: ${found}`, terminal.width - 2);
  terminal.print(`${terminal.paint(style, mark)} ${first}`);
  for (const line of rest) terminal.print(`  ${line}`);
  if (wayOut === undefined) return;
  wrap(wayOut, terminal.width - 4).forEach((line, index) => terminal.print(`  ${index === 0 ? '→' : ' '} ${line}`));
}
