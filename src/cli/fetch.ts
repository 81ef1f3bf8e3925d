import type { Command } from 'commander';
import { Problem } from '../problem.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { EXIT } from './usage.ts';

export function registerFetch(program: Command): void {
  program
    .command('fetch')
    .description('fetch a page as an agent would be given it: Markdown, from public addresses only')
    .argument('<url>', 'http or https')
    .option('--allow-private', 'also addresses of our own network')
    .option('--json', 'print JSON: url, status, format, content, truncated, redirects')
    .action(action(fetchUrl));
}

async function fetchUrl(
  { terminal }: Cli,
  url: string,
  { allowPrivate = false, json = false }: { allowPrivate?: boolean; json?: boolean },
): Promise<number> {
  const { fetchPage } = await import('../execution/fetch.ts');
  const { OutboundFailed, OutboundRefused } = await import('../execution/outbound.ts');
  try {
    const fetched = await fetchPage(url, { allowPrivate });
    if (json) terminal.printJson(fetched);
    else {
      terminal.print(fetched.content);
      if (fetched.truncated) terminal.complain('There is more of it than was read.');
      if (fetched.status >= 400) terminal.complain(`${fetched.url} answered ${fetched.status}.`);
    }
    return fetched.status < 400 ? EXIT.ok : EXIT.error;
  } catch (error) {
    if (error instanceof OutboundRefused) {
      terminal.complain(`denied: ${error.message}`);
      return EXIT.denied;
    }
    if (!(error instanceof OutboundFailed)) throw error;
    throw new Problem(`Nothing was fetched: ${error.message}.`, 'Look whether it can be reached from here.');
  }
}
