import type { Command } from 'commander';
import { readStack } from '../stack/stack-file.ts';
import { Problem } from '../problem.ts';
import { connect } from '../gate/index.ts';
import { signedBy } from './actor.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { createStage } from './demo-stage.ts';
import { degradingService, dangerousCommand, silentServer } from './demo-stories.ts';
import { withLedger } from './ledger.ts';
import { isPerSession } from './per-session.ts';
import { EXIT } from './usage.ts';

export function registerDemo(program: Command): void {
  program
    .command('demo')
    .description('three stories on the running stack, in seconds')
    .addHelpText(
      'after',
      `
Only tools of the servers demo, demo-atlassian and demo-github are touched; they are reset before and after.`,
    )
    .action(action(demo));
}

async function demo(cli: Cli): Promise<number> {
  const { config, terminal } = cli;
  if (config.enabled === false || (await isPerSession(config))) {
    throw new Problem('The demo needs the ledger.', 'Set SURETY_ENABLED=true and SURETY_PERSIST=true for it.');
  }
  const stack = await readStack(config.home);
  return withLedger(config, async (pool) => {
    const by = await signedBy(pool, config, undefined, 'operator');
    const running = stack.running ? stack.stack : undefined;
    const gate = await connect({ agent: 'demo-agent' });
    try {
      const stage = createStage(cli, { pool, gate, stack: running, by });
      await stage.clear();
      await degradingService(stage);
      await dangerousCommand(stage);
      await silentServer(stage);
      await stage.clear();
      terminal.print();
      terminal.print('Every demo tool is trusted again. To look back at what was recorded:');
      terminal.print("  surety history 'demo*/*'");
      terminal.print("  surety simulate --from-ledger --since 1h --tool 'demo*/*' --summary");
      return EXIT.ok;
    } finally {
      await gate.close();
    }
  });
}
