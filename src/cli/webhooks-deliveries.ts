import type { Command } from 'commander';
import { plural } from '../domain/trust/tally.ts';
import { readEnded, replayDeliveries } from '../postgres/webhook-deliveries.ts';
import type { EndedDelivery } from '../postgres/webhook-deliveries.ts';
import { Problem } from '../problem.ts';
import { BY, signedBy } from './actor.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { withLedger } from './ledger.ts';
import { pickById, shortId } from './short-id.ts';
import { table } from './table.ts';
import { fromNow, iso } from './time.ts';
import { EXIT, parseCount, UsageError } from './usage.ts';

interface ReplayOptions {
  readonly all?: boolean;
  readonly by?: string;
  readonly json?: boolean;
}

/** What `replay` looks for an id among. */
const MOST_LOOKED_AT = 10_000;

export function registerDeliveries(webhooks: Command): void {
  webhooks
    .command('dead')
    .description('what could not be delivered, the newest first')
    .option('--limit <n>', 'show at most so many', parseCount, 50)
    .option('--json', 'print JSON')
    .action(action(dead));
  webhooks
    .command('replay')
    .description('send again what is dead, or was delivered, under the id it had')
    .argument('[id...]', 'of deliveries; `surety webhooks dead` lists those that failed')
    .option('--all', 'everything that is dead')
    .option('--by <name>', BY)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  surety webhooks replay 1f2e3d4c
  surety webhooks replay --all`,
    )
    .action(action(replay));
}

async function dead({ config, terminal }: Cli, { limit, json }: { limit: number; json?: boolean }): Promise<number> {
  return withLedger(config, async (pool) => {
    const found = await readEnded(pool, { status: 'dead', limit });
    if (json === true) terminal.printJson(found.map(forJson));
    else if (found.length === 0) terminal.print('Everything was delivered.');
    else {
      const titles = ['ID', 'EVENT', 'WEBHOOK', 'HAPPENED', 'ATTEMPTS'];
      const rows = found.map(({ id, type, webhook, createdAt, attempts, error, isOrphan }) => ({
        cells: [
          shortId(id),
          type,
          isOrphan ? 'removed' : shortId(webhook),
          fromNow(createdAt, Date.now()),
          `${attempts}`,
        ],
        note: error ?? '',
      }));
      const columns = titles.map((title) => ({ title }));
      terminal.print(table(terminal, columns, rows));
      if (found.length === limit) terminal.print(terminal.paint('dim', `The newest ${limit}; more with --limit.`));
    }
    return EXIT.ok;
  });
}

const NAMED = {
  none: 'no delivery that has ended',
  several: 'several deliveries',
  listed: '`surety webhooks dead` lists those that failed.',
};

async function replay({ config, terminal }: Cli, typed: readonly string[], options: ReplayOptions): Promise<number> {
  const { all = false, json = false } = options;
  if (all === typed.length > 0) {
    throw new UsageError('Which deliveries?', 'Name them, or say --all for everything that is dead.');
  }
  return withLedger(config, async (pool) => {
    const by = await signedBy(pool, config, options.by, 'operator');
    const ids = all ? 'dead' : idsOf(typed, await readEnded(pool, { limit: MOST_LOOKED_AT }));
    const replayed = await replayDeliveries(pool, ids, by);
    if (json) terminal.printJson({ replayed });
    else terminal.print(`${plural(replayed.length, 'delivery', 'deliveries')} will be sent again.`);
    return EXIT.ok;
  });
}

function idsOf(typed: readonly string[], ended: readonly EndedDelivery[]): readonly string[] {
  return typed.map((part) => {
    const { id, isOrphan } = pickById(ended, part, NAMED);
    if (!isOrphan) return id;
    throw new Problem(`${JSON.stringify(part)} has no webhook any more; nothing was changed.`, 'Add it again first.');
  });
}

function forJson({ createdAt, endedAt, isOrphan, ...delivery }: EndedDelivery): Record<string, unknown> {
  return { ...delivery, isRemoved: isOrphan, createdAt: iso(createdAt), endedAt: iso(endedAt) };
}
