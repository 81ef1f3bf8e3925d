import type { Command } from 'commander';
import { listWebhooks, rotateSecret } from '../postgres/webhooks.ts';
import { Problem } from '../problem.ts';
import { BY, signedBy } from './actor.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { withLedger } from './ledger.ts';
import { pickById } from './short-id.ts';
import { parseDuration } from './time.ts';
import { EXIT, UsageError } from './usage.ts';

interface RotateOptions {
  readonly overlap: number;
  readonly now?: boolean;
  readonly by?: string;
  readonly json?: boolean;
}

const A_DAY = 86_400_000;
const LONGEST_OVERLAP = 30 * A_DAY;
const NAMED = { none: 'no webhook', several: 'several webhooks', listed: '`surety webhooks list` has their ids.' };

export function registerRotate(webhooks: Command): void {
  webhooks
    .command('rotate')
    .description('give it another secret, shown once; for a while both sign')
    .argument('<id>', 'as `surety webhooks list` has it')
    .option('--overlap <duration>', 'how long the old one signs, too', parseOverlap, A_DAY)
    .option('--now', 'the old one is known to others: it signs no more')
    .option('--by <name>', BY)
    .option('--json', 'print JSON')
    .action(action(rotate));
}

async function rotate({ config, terminal }: Cli, typed: string, options: RotateOptions): Promise<number> {
  const { overlap, now = false, json = false } = options;
  return withLedger(config, async (pool) => {
    const by = await signedBy(pool, config, options.by, 'operator');
    const { id, url } = pickById(await listWebhooks(pool), typed, NAMED);
    const overlapSeconds = now ? 0 : Math.round(overlap / 1000);
    const secret = await rotateSecret(pool, id, { by, overlapSeconds });
    if (secret === undefined) throw new Problem(`${url} has just been removed.`, NAMED.listed);
    if (json) terminal.printJson({ id, url, secret, overlapSeconds });
    else {
      terminal.print(secret);
      terminal.complain(`Keep it where ${new URL(url).host} verifies signatures: it is not shown again.`);
    }
    return EXIT.ok;
  });
}

function parseOverlap(text: string): number {
  const ms = parseDuration(text);
  if (ms <= LONGEST_OVERLAP) return ms;
  throw new UsageError(`--overlap ${text} is too long.`, 'Give at most 30d, or --now.');
}
