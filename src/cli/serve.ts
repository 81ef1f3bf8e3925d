import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { locateLedger } from '../ledger-location.ts';
import { readStack } from '../stack/stack-file.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { EXIT } from './usage.ts';

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('offer the HTTP API and the console, beside a stack that runs elsewhere')
    .addHelpText(
      'after',
      `
Environment:
  DATABASE_URL                        the ledger
  SURETY_HTTP_HOST, SURETY_HTTP_PORT  where to listen (default: 127.0.0.1:7400)
  SURETY_UI_URL, TEMPORAL_NAMESPACE   Temporal UI, for links from the console

\`surety up\` offers it by itself. Beyond this machine there must be a token (surety token create).`,
    )
    .action(action(serve));
}

async function serve({ config, terminal }: Cli): Promise<number> {
  // Temporal's client takes half a second to load, and most commands need none of it.
  const [{ serveHttp }, { temporalOf }] = await Promise.all([
    import('../http/serve.ts'),
    import('./doctor-temporal.ts'),
  ]);
  const databaseUrl = await locateLedger(config);
  const api = await serveHttp({
    databaseUrl,
    temporal: await temporalOf(config),
    ...config.http,
    temporalUi: await temporalUiOf(config),
    log: (message) => terminal.complain(message),
  });
  terminal.print(`The console is at ${api.url}; ${api.url}/openapi.json describes the HTTP API. Ctrl-C stops it.`);
  await new Promise<void>((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop());
  });
  await api.close();
  return EXIT.ok;
}

/** As the environment names it, or of the stack that runs in the data directory. */
async function temporalUiOf({ uiUrl, temporal, home, databaseUrl }: Config) {
  if (uiUrl !== undefined) return { url: uiUrl, namespace: temporal.env['TEMPORAL_NAMESPACE'] ?? 'default' };
  const found = databaseUrl === undefined ? await readStack(home) : undefined;
  if (found?.running !== true || found.stack.uiUrl === undefined) return undefined;
  return { url: found.stack.uiUrl, namespace: found.stack.namespace };
}
