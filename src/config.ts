import { delimiter, resolve } from 'node:path';
import * as z from 'zod';
import { Problem } from './problem.ts';

const flag = z
  .enum(['true', 'false', '1', '0'], 'expected true or false')
  .transform((text) => text === 'true' || text === '1');

const positiveInteger = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, 'expected a positive whole number')
  .transform(Number);

const port = positiveInteger.refine((value) => value <= 65_535, 'expected a port from 1 to 65535');

const postgresUrl = z
  .string()
  .refine(
    (text) => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text),
    'expected postgres://user:password@host:port/database',
  );

const publicUrl = z
  .string()
  .refine(
    (text) => /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).username === '',
    'expected http://host:port or https://host',
  )
  .transform((text) => text.replace(/[/?#]*$/, ''));

const Environment = z.object({
  SURETY_HOME: z.string().default('.surety'),
  SURETY_CACHE: z.string().optional(),
  SURETY_ENABLED: flag.optional(),
  SURETY_PERSIST: flag.optional(),
  SURETY_THRESHOLD: positiveInteger.refine((value) => value <= 1000, 'expected at most 1000').optional(),
  SURETY_WINDOW: positiveInteger.optional(),
  SURETY_TASK_QUEUE: z.string().default('surety'),
  SURETY_TEMPORAL_PORT: port.default(7233),
  SURETY_UI_PORT: port.default(8233),
  SURETY_POSTGRES_PORT: port.default(7432),
  SURETY_UI_URL: z
    .url({ protocol: /^https?$/, error: 'expected the http(s) URL of Temporal UI' })
    .transform((text) => text.replace(/\/+$/, ''))
    .optional(),
  SURETY_HTTP_PORT: port.default(7400),
  SURETY_HTTP_HOST: z.string().default('127.0.0.1'),
  SURETY_URL: z
    .string()
    .refine((text) => /^https?:\/\//.test(text) && URL.canParse(text), 'expected http://host:port')
    .optional(),
  SURETY_TOKEN: z.string().optional(),
  SURETY_PUBLIC_URL: publicUrl.optional(),
  SURETY_DATABASE_URL: postgresUrl.optional(),
  DATABASE_URL: postgresUrl.optional(),
  NO_COLOR: z.string().optional(),
  PATH: z.string().default(''),
});

/** Everything a process takes from its environment, parsed once at start. */
export interface Config {
  /** Absolute path of the data directory. */
  readonly home: string;
  /** Absolute path where downloaded binaries are kept instead of in the data directory. */
  readonly cache: string | undefined;
  /** `undefined` wherever the environment says nothing and the rules decide. */
  readonly enabled: boolean | undefined;
  readonly persist: boolean | undefined;
  readonly threshold: number | undefined;
  readonly windowSeconds: number | undefined;
  readonly databaseUrl: string | undefined;
  /** Whether it is Surety's for certain: DATABASE_URL may as well be the project's own. */
  readonly isOwnDatabaseUrl: boolean;
  readonly taskQueue: string;
  readonly ports: { readonly temporal: number; readonly ui: number; readonly postgres: number };
  /** Of a Temporal UI that is not ours, for links to it. */
  readonly uiUrl: string | undefined;
  /** Where the HTTP API listens. */
  readonly http: { readonly host: string; readonly port: number };
  /** A server that a gate speaks HTTP with instead of going to the ledger itself. */
  readonly remote: { readonly url: string | undefined; readonly token: string | undefined };
  /** Where people find the console, without a slash at the end: what links in messages begin with. */
  readonly publicUrl: string;
  readonly temporal: {
    /** Whether the environment names a Temporal server, so that none is started here. */
    readonly external: boolean;
    /** The `TEMPORAL_*` variables, for Temporal's own reader of them. */
    readonly env: Readonly<Record<string, string>>;
  };
  readonly colour: boolean;
  /** The directories of PATH, where programs are looked for. */
  readonly searchPath: readonly string[];
}

// A profile file in the user's home directory alone does not count: it may name production, and `surety up` on a
// laptop must not move there because of a file written for another program.
const NAMES_A_SERVER = ['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'];

/** Reads the environment. A value that cannot be used is a Problem that names the variable and the value. */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  // `VAR=` is how a compose file or a shell says "not set".
  const given = Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => !!entry[1]));
  const parsed = Environment.safeParse(given);
  if (!parsed.success) throw unusable(parsed.error, given);
  const values = parsed.data;
  const ports = {
    temporal: values.SURETY_TEMPORAL_PORT,
    ui: values.SURETY_UI_PORT,
    postgres: values.SURETY_POSTGRES_PORT,
  };
  requireDistinct({ ...ports, http: values.SURETY_HTTP_PORT });
  return {
    home: resolve(values.SURETY_HOME),
    cache: values.SURETY_CACHE === undefined ? undefined : resolve(values.SURETY_CACHE),
    enabled: values.SURETY_ENABLED,
    persist: values.SURETY_PERSIST,
    threshold: values.SURETY_THRESHOLD,
    windowSeconds: values.SURETY_WINDOW,
    databaseUrl: values.SURETY_DATABASE_URL ?? values.DATABASE_URL,
    isOwnDatabaseUrl: values.SURETY_DATABASE_URL !== undefined,
    taskQueue: values.SURETY_TASK_QUEUE,
    ports,
    uiUrl: values.SURETY_UI_URL,
    http: { host: values.SURETY_HTTP_HOST, port: values.SURETY_HTTP_PORT },
    remote: { url: values.SURETY_URL, token: values.SURETY_TOKEN },
    publicUrl: values.SURETY_PUBLIC_URL ?? localUrl(values.SURETY_HTTP_HOST, values.SURETY_HTTP_PORT),
    temporal: {
      external: NAMES_A_SERVER.some((name) => name in given),
      env: Object.fromEntries(Object.entries(given).filter(([name]) => name.startsWith('TEMPORAL_'))),
    },
    colour: values.NO_COLOR === undefined,
    searchPath: values.PATH.split(delimiter).filter((directory) => directory !== ''),
  };
}

/** Whoever listens on every address is found on this machine by its own. */
function localUrl(host: string, httpPort: number): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${httpPort}`;
}

/** What a command that we run would inherit, secrets and all: for whoever takes those out. */
export function inheritedEnvironment(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function unusable(error: z.ZodError, given: Record<string, string>): Problem {
  const lines = error.issues.map((issue) => {
    const name = String(issue.path[0]);
    // What carries a password is named, never printed.
    const shown = name.endsWith('DATABASE_URL') ? name : `${name} is ${JSON.stringify(given[name])}`;
    return `${shown}: ${issue.message}`;
  });
  return new Problem(lines.join('\n'), 'Correct it or unset it, then start again.');
}

function requireDistinct(ports: Readonly<Record<string, number>>): void {
  const taken = Object.values(ports);
  if (new Set(taken).size === taken.length) return;
  throw new Problem(
    `SURETY_TEMPORAL_PORT, SURETY_UI_PORT, SURETY_POSTGRES_PORT and SURETY_HTTP_PORT must differ, got ${taken.join(', ')}`,
    'Give each its own port.',
  );
}
