import { bringUp } from '../up.ts';
import type { Up } from '../up.ts';
import { createPool } from '../postgres/pool.ts';
import { reasonOf, unlessRepeated } from '../problem.ts';
import { findRulesFile } from '../rules-file.ts';
import type { Cli } from './cli.ts';
import { placeOf } from './ledger.ts';
import type { UpOptions } from './up.ts';
import { publishAndWatch } from './watch-rules.ts';
import { EXIT } from './usage.ts';

/** Runs until told to stop, or until something it depends on has ended. */
export async function runUp(cli: Cli, options: UpOptions): Promise<number> {
  const { config, terminal } = cli;
  await findRulesFile(); // A file that cannot be used is refused while nothing has been started yet.
  const stopping = stopSignals(cli);
  let broken: (why: string) => void = () => undefined;
  const breakdown = new Promise<string>((resolve) => {
    broken = resolve;
  });
  const up = await bringUp(config, {
    progress: (message) => terminal.print(message),
    adopt: options.adopt === true,
    onTrouble: unlessRepeated((message) => terminal.complain(message)),
    onChildExit: (message) => broken(message),
  });
  try {
    stopping.isUp();
    const ended = up.ended.then(
      () => 'the worker ended',
      (error: unknown) => `the worker ended: ${reasonOf(error)}`,
    );
    const why = await serve(cli, up, Promise.race([stopping.asked, breakdown, ended]));
    if (why !== undefined) terminal.complain(`\n${why}\nStopping, because nothing works without it.`);
    return why === undefined ? EXIT.ok : EXIT.error;
  } finally {
    await up.stop();
    terminal.print('Stopped. Everything is kept in the data directory.');
  }
}

/** Publishes and watches the rules until the end; answers why it came. */
async function serve(cli: Cli, up: Up, end: Promise<string | undefined>): Promise<string | undefined> {
  const pool = createPool(up.stack.databaseUrl, { max: 2, name: 'surety up' });
  try {
    const rules = await publishAndWatch(cli, pool);
    announce(cli, up, rules.described);
    const why = await end;
    rules.close();
    return why;
  } finally {
    await pool.end();
  }
}

/** Under npm one Ctrl-C comes twice: from the terminal, and passed on by npm. */
const SAME_KEYPRESS_MS = 500;

/**
 * Ctrl-C asks us alone: servers run in process groups of their own and are stopped by us, in order. While they are still
 * starting, a second Ctrl-C leaves at once and the guard process ends them the same way; later it changes nothing.
 */
function stopSignals({ terminal }: Cli): { asked: Promise<undefined>; isUp: () => void } {
  let isUp = false;
  let times = 0;
  let firstAt = 0;
  const asked = new Promise<undefined>((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      if (times === 1 && Date.now() - firstAt < SAME_KEYPRESS_MS) return;
      times += 1;
      if (times === 1) firstAt = Date.now();
      if (!isUp && times > 1) process.exit(signal === 'SIGINT' ? 130 : 143);
      if (times === 1 && isUp) terminal.print('\nStopping in order: worker, Temporal, Postgres …');
      else if (times === 1) terminal.print('\nStopping as soon as it has started. Once more to leave at once.');
      else terminal.print('Still stopping; interrupting it would help nobody.');
      resolve(undefined);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
  });
  return {
    asked,
    isUp: () => {
      isUp = true;
    },
  };
}

const IN_DOUBT = 'ExecutionStatus="Running" AND WorkflowType="toolTrust" AND SuretyState!="TRUSTED"';

function announce({ config, terminal }: Cli, { stack, notes, http }: Up, rules: string): void {
  const { home, databaseUrl, temporal, uiUrl } = stack;
  const workflows = `${uiUrl ?? ''}/namespaces/${temporal.namespace}/workflows?query=`;
  const ui =
    uiUrl === undefined
      ? [`  Temporal     ${temporal.address}, namespace ${temporal.namespace}`]
      : [
          `  Temporal UI  ${workflows}${encodeURIComponent('WorkflowType="toolTrust"')}`,
          `  in doubt     ${workflows}${encodeURIComponent(IN_DOUBT)}`,
        ];
  const isElsewhere = config.databaseUrl === undefined && home.root !== `${process.cwd()}/.surety`;
  const lines = [
    '',
    terminal.paint('bold', `Surety is ready, after ${(performance.now() / 1000).toFixed(1)} s.`),
    '',
    ...ui,
    `  Console      ${http.url}, sign in with the token in ${http.tokenFile}`,
    `  HTTP API     ${http.url}/openapi.json`,
    `  Postgres     ${placeOf(databaseUrl)}`,
    `  Data         ${home.root}`,
    `  Rules        ${rules}`,
    ...notes.map((note) => `  Note         ${note}`),
    '',
    `Try next, in another terminal${isElsewhere ? ` with SURETY_HOME=${home.root}` : ''}:`,
    '  npx surety demo      three stories in seconds, with links into Temporal UI',
    '  npx surety status    what is trusted, and what is not',
    '',
    'In a program:',
    "  import { connect } from 'surety';",
    '  const gate = await connect();',
    "  const get = gate.guard('http_request', ({ url }) => fetch(url));",
    "  await get({ url: 'https://api.example.com/data' });",
    '',
    'Ctrl-C stops everything.',
  ];
  for (const line of lines) terminal.print(line);
}
