import type { Command } from 'commander';
import * as z from 'zod';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { callTool, complainOf, jsonOfCall, withCallOptions } from './execution.ts';
import type { CallOptions } from './execution.ts';
import { plain } from './text.ts';
import { EXIT } from './usage.ts';

export function registerFetch(program: Command): void {
  const command = program
    .command('fetch')
    .description('fetch a page as an agent would be given it: Markdown, from public addresses only')
    .argument('<url>', 'http or https')
    .option('--allow-private', 'also addresses of our own network');
  withCallOptions(command)
    .option('--json', 'print JSON: url, status, format, content, truncated, redirects')
    .addHelpText(
      'after',
      '\nExit codes: 0 fetched, 1 failed, 2 unusable arguments, 3 refused, 4 a person has to be asked.',
    )
    .action(action(fetchUrl));
}

interface FetchUrlOptions extends CallOptions {
  readonly allowPrivate?: boolean;
  readonly json?: boolean;
}

const Page = z.object({ url: z.string(), status: z.number(), content: z.string(), truncated: z.boolean() });

async function fetchUrl(cli: Cli, url: string, options: FetchUrlOptions): Promise<number> {
  const { terminal } = cli;
  const call = { tool: 'fetch', args: { url }, question: `Fetch ${plain(url)}?` };
  const opening = { fetch: { allowPrivate: options.allowPrivate === true } };
  const { executed, stoppedWith } = await callTool(cli, call, options, opening);
  const value = 'output' in executed ? executed.output?.value : undefined;
  if (options.json === true) terminal.printJson(value ?? jsonOfCall(executed));
  if (executed.status === 'refused' || executed.status === 'ask') return complainOf(cli, executed);
  if (value === undefined) {
    if (executed.status === 'failed') terminal.complain(`error: ${plain(executed.error.message)}`);
    if (stoppedWith !== undefined) return stoppedWith;
    return executed.status === 'failed' && executed.error.category === 'policy_blocked' ? EXIT.denied : EXIT.error;
  }
  const page = Page.parse(value);
  if (options.json !== true) {
    terminal.print(page.content);
    if (page.truncated) terminal.complain('There is more of it than was read.');
    if (page.status >= 400) terminal.complain(`${page.url} answered ${page.status}.`);
  }
  return executed.status === 'done' ? EXIT.ok : EXIT.error;
}
