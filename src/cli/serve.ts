import type { Command } from 'commander';
import { locateLedger } from '../ledger-location.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { temporalOf } from './doctor-temporal.ts';
import { EXIT } from './usage.ts';

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('offer the HTTP API, beside a stack that runs elsewhere')
    .addHelpText(
      'after',
      `
Environment:
  DATABASE_URL                        the ledger
  SURETY_HTTP_HOST, SURETY_HTTP_PORT  where to listen (default: 127.0.0.1:7400)

\`surety up\` offers it by itself. Beyond this machine there must be a token (surety token create).`,
    )
    .action(action(serve));
}

async function serve({ config, terminal }: Cli): Promise<number> {
  const { serveHttp } = await import('../http/serve.ts');
  const databaseUrl = await locateLedger(config);
  const api = await serveHttp({ databaseUrl, temporal: await temporalOf(config), ...config.http });
  terminal.print(`The HTTP API is at ${api.url}; ${api.url}/openapi.json describes it. Ctrl-C stops it.`);
  await new Promise<void>((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop());
  });
  await api.close();
  return EXIT.ok;
}
