import type { Command } from 'commander';
import { redactText } from '../domain/outcome/redact.ts';
import { EVENT_TYPES } from '../domain/webhook/event.ts';
import type { EventType } from '../domain/webhook/event.ts';
import { newOutcomeId } from '../postgres/outcome-id.ts';
import { addWebhook, listWebhooks, readEndpoint, removeWebhook, shownUrl } from '../postgres/webhooks.ts';
import type { Webhook } from '../postgres/webhooks.ts';
import { Problem } from '../problem.ts';
import { BY, signedBy } from './actor.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { chooseId } from './choose.ts';
import { withLedger } from './ledger.ts';
import { pickById, shortId } from './short-id.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';
import { fromNow, iso, parseDuration } from './time.ts';
import { EXIT, UsageError } from './usage.ts';
import { registerDeliveries } from './webhooks-deliveries.ts';
import { registerRotate } from './webhooks-rotate.ts';

interface AddOptions {
  readonly events?: readonly EventType[];
  readonly allowPrivate?: boolean;
  readonly retryFor: number;
  readonly by?: string;
  readonly json?: boolean;
}

const A_DAY = 86_400_000;
const LONGEST_RETRY = 30 * A_DAY;

export function registerWebhooks(program: Command): void {
  const webhooks = program.command('webhooks').description('who outside is told: of tools in doubt, and of questions');
  webhooks
    .command('add')
    .description('tell a URL; the secret it verifies with is shown once')
    .argument('<url>', 'where to, http or https')
    .option('--events <types>', `only these, separated by commas: ${EVENT_TYPES.join(', ')}`, parseEvents)
    .option('--allow-private', 'the target is in our own network, and trusted')
    .option('--retry-for <duration>', 'give up after so long', parseRetry, A_DAY)
    .option('--by <name>', BY)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
What is sent is signed as Standard Webhooks has it
(https://www.standardwebhooks.com); docs/webhooks.md has an example.

Examples:
  surety webhooks add https://hooks.example.com/surety --events approval.asked
  surety webhooks add http://10.0.0.7:9000/surety --allow-private`,
    )
    .action(action(add));
  webhooks
    .command('list')
    .description('every webhook, without its secret')
    .option('--json', 'print JSON')
    .action(action(list));
  webhooks
    .command('remove')
    .description('tell it no more')
    .argument('<id>', 'as `surety webhooks list` has it')
    .option('--by <name>', BY)
    .option('--json', 'print JSON')
    .action(action(remove));
  webhooks
    .command('test')
    .description('send a signed test event now, and print the answer')
    .argument('[id]', 'as `surety webhooks list` has it; on a terminal you can choose')
    .option('--json', 'print JSON')
    .action(action(test));
  registerRotate(webhooks);
  registerDeliveries(webhooks);
}

async function add({ config, terminal }: Cli, url: string, options: AddOptions): Promise<number> {
  const { events = [], allowPrivate = false, retryFor, json = false } = options;
  await refuseUnreachable(url, allowPrivate);
  return withLedger(config, async (pool) => {
    const by = await signedBy(pool, config, options.by, 'operator');
    const retrySeconds = Math.max(1, Math.round(retryFor / 1000));
    const { id, secret } = await addWebhook(pool, { url, events, allowPrivate, retrySeconds, by });
    if (json) terminal.printJson({ id, url: shownUrl(url), events, secret });
    else {
      terminal.print(secret);
      terminal.complain(`Keep it where ${new URL(url).host} verifies signatures: it is not shown again.`);
      terminal.complain(`\`surety webhooks test ${shortId(id)}\` sends something to try it with.`);
    }
    return EXIT.ok;
  });
}

async function refuseUnreachable(url: string, allowPrivate: boolean): Promise<void> {
  const { OutboundFailed, OutboundRefused, requireTarget } = await import('../execution/outbound.ts');
  try {
    await requireTarget(url, { allowPrivate });
  } catch (error) {
    if (error instanceof OutboundRefused) {
      throw new UsageError(
        `Nothing is sent to ${JSON.stringify(redactText(url, 200))}: ${error.message}.`,
        'Give a public http or https URL; --allow-private is for a target in your own network that you trust.',
      );
    }
    if (!(error instanceof OutboundFailed)) throw error;
    throw new Problem(
      `${JSON.stringify(redactText(url, 200))} cannot be reached: ${error.message}.`,
      'Correct the host.',
    );
  }
}

async function list({ config, terminal }: Cli, { json = false }: { json?: boolean }): Promise<number> {
  return withLedger(config, async (pool) => {
    const webhooks = await listWebhooks(pool);
    if (json) terminal.printJson(webhooks.map(({ createdAt, ...rest }) => ({ ...rest, createdAt: iso(createdAt) })));
    else if (webhooks.length === 0) terminal.print('There are no webhooks.');
    else terminal.print(webhooksTable(terminal, webhooks));
    return EXIT.ok;
  });
}

const COLUMNS = [{ title: 'ID' }, { title: 'URL', atLeast: 20 }, { title: 'ADDED' }, { title: '' }];

function webhooksTable(terminal: Terminal, webhooks: readonly Webhook[]): string {
  const rows = webhooks.map((webhook) => ({
    cells: [shortId(webhook.id), webhook.url, fromNow(webhook.createdAt, Date.now()), standing(webhook)],
    note: webhook.events.length === 0 ? '' : webhook.events.join(', '),
  }));
  return table(terminal, COLUMNS, rows);
}

function standing({ pending, dead }: Webhook): string {
  return [pending > 0 ? `${pending} waiting` : '', dead > 0 ? `${dead} dead` : ''].filter(Boolean).join(', ');
}

const NAMED = { none: 'no webhook', several: 'several webhooks', listed: '`surety webhooks list` has their ids.' };

async function remove(
  { config, terminal }: Cli,
  typed: string,
  { by, json = false }: { by?: string; json?: boolean },
): Promise<number> {
  return withLedger(config, async (pool) => {
    const signed = await signedBy(pool, config, by, 'operator');
    const { id, url, pending } = pickById(await listWebhooks(pool), typed, NAMED);
    await removeWebhook(pool, id, signed);
    if (json) terminal.printJson({ id, url, dropped: pending });
    else terminal.print(`${url} is told no more${pending > 0 ? `, nor of ${pending} that waited` : ''}.`);
    return EXIT.ok;
  });
}

/** Past workflow and outbox: whoever tests wants to know now, and wants no retry. */
async function test(cli: Cli, typed: string | undefined, { json = false }: { json?: boolean }): Promise<number> {
  const { config, terminal } = cli;
  const { OutboundFailed, OutboundRefused } = await import('../execution/outbound.ts');
  const { sendWebhook } = await import('../execution/send-webhook.ts');
  return withLedger(config, async (pool) => {
    const webhooks = await listWebhooks(pool);
    const none = 'There is no webhook; `surety webhooks add` makes one.';
    const words = { which: 'Which webhook?', listed: NAMED.listed, none };
    const chosen = typed ?? (await chooseId(cli, words, webhooks, (from) => webhooksTable(terminal, from)));
    if (chosen === undefined) return EXIT.ok;
    const { id, url } = pickById(webhooks, chosen, NAMED);
    const endpoint = await readEndpoint(pool, id);
    if (endpoint === undefined) throw new Problem(`${url} has just been removed.`, NAMED.listed);
    const message = { id: newOutcomeId(), type: 'webhook.test', at: Date.now(), data: { webhook: id } };
    const answer = await sendWebhook(endpoint, { ...message, url: config.publicUrl }).catch((error: unknown) => {
      if (!(error instanceof OutboundRefused || error instanceof OutboundFailed)) throw error;
      throw new Problem(`Nothing was delivered to ${url}: ${error.message}.`, 'Deliveries would meet the same.');
    });
    const { status } = answer;
    const body = redactText(answer.body.toString('utf8'), 500);
    const delivered = status >= 200 && status < 300;
    if (json) terminal.printJson({ id: message.id, delivered, status, body });
    else terminal.print(`${url} answered ${status}${body.trim() === '' ? '' : `: ${body.trim()}`}`);
    return delivered ? EXIT.ok : EXIT.error;
  });
}

function parseEvents(text: string): readonly EventType[] {
  return text.split(',').map((part) => {
    const type = EVENT_TYPES.find((known) => known === part.trim());
    if (type !== undefined) return type;
    throw new UsageError(`${JSON.stringify(part)} is no event.`, `Give some of ${EVENT_TYPES.join(', ')}.`);
  });
}

function parseRetry(text: string): number {
  const ms = parseDuration(text);
  if (ms <= LONGEST_RETRY) return ms;
  throw new UsageError(`--retry-for ${text} is too long.`, 'Give at most 30d.');
}
