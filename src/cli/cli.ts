import { loadConfig } from '../config.ts';
import type { Config } from '../config.ts';
import { openTerminal } from './terminal.ts';
import type { Terminal } from './terminal.ts';

/** What every command is given. */
export interface Cli {
  readonly config: Config;
  readonly terminal: Terminal;
}

/** Makes an action for commander. The environment is read only now, so that --help works whatever it holds. */
export function action<Args extends readonly unknown[]>(
  run: (cli: Cli, ...args: Args) => Promise<number>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    const config = loadConfig();
    process.exitCode = await run({ config, terminal: openTerminal(config.colour) }, ...args);
  };
}
