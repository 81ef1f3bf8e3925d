import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { SEARCH_ATTRIBUTE_FLAGS } from '../../src/temporal/register-search-attributes.ts';

// There is no Docker daemon where the tests run, so what can be known without one is checked here: the Compose
// specification's own JSON schema, as the package dclint carries it unchanged, and what we claim beyond it.

interface Service {
  readonly image?: string;
  readonly restart?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: object;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const compose = read('docker-compose.yml');

const require = createRequire(import.meta.url);
const specification = join(dirname(require.resolve('dclint/package.json')), 'schemas/compose.schema.json');
const schema = JSON.parse(readFileSync(specification, 'utf8')) as object;
// The schema itself is not validated: it names its draft by https:, and Ajv knows that draft as http: only.
const isComposeFile = new Ajv({ strict: false, validateSchema: false, allErrors: true }).compile<ComposeFile>(schema);

const ENVIRONMENT = { POSTGRES_PASSWORD: 'one', TEMPORAL_DB_PASSWORD: 'two', SURETY_DB_PASSWORD: 'three' };

/** Compose's `${NAME:?message}` and `${NAME:-default}`; it substitutes before it validates. */
function substitute(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+):([?-])([^}]*)\}/g, (_, name: string, kind: string, rest: string) => {
    const value = env[name] ?? (kind === '-' ? rest : undefined);
    if (value === undefined) throw new Error(`${name} is missing: ${rest}`);
    return value;
  });
}

function load(text: string, env?: Readonly<Record<string, string>>): unknown {
  const reviver = (_key: unknown, value: unknown) =>
    env && typeof value === 'string' ? substitute(value, env) : value;
  return parse(text, reviver, { merge: true });
}

/** Everything that is wrong with a compose file, by the specification or else by our own claims. */
function complaints(text: string): string[] {
  const written = load(text);
  for (const file of [written, load(text, ENVIRONMENT)]) {
    if (!isComposeFile(file)) return (isComposeFile.errors ?? []).map((error) => JSON.stringify(error));
  }
  return isComposeFile(written) ? Object.entries(written.services).flatMap((entry) => claims(written, ...entry)) : [];
}

function claims({ services, volumes }: ComposeFile, name: string, service: Service): string[] {
  const wrong: string[] = [];
  const claim = (holds: boolean, otherwise: string) => {
    if (!holds) wrong.push(`${name}: ${otherwise}`);
  };

  claim(/:(?!latest$)[\w.-]+$/.test(service.image ?? ''), `image ${service.image ?? '(none)'} is not pinned by a tag`);

  for (const [key, value] of Object.entries(service.environment ?? {})) {
    const secret = /PASSWORD|PWD|SECRET|TOKEN|API_KEY/.test(key);
    claim(!secret || /^\$\{\w+:\?[^}]+\}$/.test(value), `${key} must come from the environment, without a default`);
    claim(!/:\/\/[^/@]*:[^/@]*@/.test(value), `${key} has a password in its URL`);
  }

  for (const [dependency, { condition }] of Object.entries(service.depends_on ?? {})) {
    const other = services[dependency];
    if (condition === 'service_healthy')
      claim(other?.healthcheck !== undefined, `${dependency} can never become healthy`);
    else if (condition === 'service_completed_successfully')
      claim(other?.restart === 'no', `${dependency} never completes`);
    else claim(false, `waits for ${dependency} only to be started`);
  }

  const awaited = Object.values(services).some(
    (one) => one.depends_on?.[name]?.condition === 'service_completed_successfully',
  );
  claim(service.healthcheck !== undefined || awaited, 'has no health check, and nobody waits for it to complete');
  claim(service.restart === (awaited ? 'no' : 'unless-stopped'), `restart is ${service.restart ?? '(none)'}`);

  for (const [source = '', , mode] of service.volumes?.map((volume) => volume.split(':')) ?? []) {
    if (!source.startsWith('.')) claim(source in volumes, `volume ${source} is not declared`);
    else claim(existsSync(join(root, source)) && mode === 'ro', `${source} is not there, or can be written to`);
  }

  for (const port of service.ports ?? []) claim(port.startsWith('127.0.0.1:'), `port ${port} is open to the network`);
  return wrong;
}

it('says on its first line how it was checked, and that it was not run', () => {
  expect(compose.split('\n')[0]).toMatch(/^# Validated against the Compose specification's JSON schema.*not run/);
});

it('is valid by the Compose specification and keeps our own claims', () => {
  expect(complaints(compose)).toEqual([]);
});

it.each([
  [
    'a key that Compose does not know',
    'stop_grace_period: 30s',
    'stop_grace: 30s',
    /"additionalProperty":"stop_grace"/,
  ],
  ['a value of the wrong type', 'mem_limit: 1g', 'mem_limit: [1g]', /mem_limit.*must be/],
  ['a condition that Compose does not know', 'service_completed_successfully }', 'service_done }', /allowedValues/],
  ['a service without an image', 'image: temporalio/ui:2.52.0', '', /temporal-ui: image \(none\)/],
  ['an image without a tag', 'postgres:17.11-bookworm', 'postgres', /postgres: image postgres is not pinned/],
  ['the tag latest', 'temporalio/server:1.31.2', 'temporalio/server:latest', /temporal: .*not pinned/],
  [
    'a password in the file',
    '${SURETY_DB_PASSWORD:?password of role surety}',
    'hunter2',
    /SURETY_DB_PASSWORD must come/,
  ],
  ['a password with a default', '${SURETY_DB_PASSWORD:?', '${SURETY_DB_PASSWORD:-', /SURETY_DB_PASSWORD must come/],
  ['a password in a URL', 'surety@postgres', 'surety:hunter2@postgres', /DATABASE_URL has a password/],
  ['waiting for a service that is not there', 'temporal-schema: { cond', 'schema: { cond', /schema never completes/],
  ['waiting for health that nobody checks', 'healthcheck:', 'x-healthcheck:', /postgres can never become healthy/],
  [
    'waiting for the end of what runs on',
    "restart: 'no'",
    'restart: unless-stopped',
    /temporal-schema never completes/,
  ],
  ['a volume that is not declared', '- postgres-data:', '- pgdata:', /volume pgdata is not declared/],
  ['a mounted file that is not there', './docker/postgres/init.sql', './docker/init.sql', /init\.sql is not there/],
  ['a port that everybody reaches', "'127.0.0.1:${SURETY", "'${SURETY", /temporal-ui: port .* is open/],
])('notices %s', (_what, from, to, complaint) => {
  expect(compose).toContain(from);
  expect(complaints(compose.replace(from, () => to)).join('\n')).toMatch(complaint);
});

it.each(Object.keys(ENVIRONMENT))('does not start without %s', (name) => {
  const others = Object.fromEntries(Object.entries(ENVIRONMENT).filter(([key]) => key !== name));
  expect(() => load(compose, others)).toThrow(`${name} is missing`);
});

it('takes the server and the tools that set up its schema from one release', () => {
  const releases = [...compose.matchAll(/temporalio\/(?:server|admin-tools):(\S+)/g)].map(([, tag]) => tag);
  expect(releases).toHaveLength(2);
  expect(new Set(releases).size).toBe(1);
});

it('registers the search attributes that the workflows write', () => {
  const script = read('docker/temporal/search-attributes.sh');
  const registered = [...script.matchAll(/--name (\w+) --type (\w+)/g)].map(([, name, type]) => `${name}=${type}`);
  expect(registered).toEqual(SEARCH_ATTRIBUTE_FLAGS);
  for (const flag of SEARCH_ATTRIBUTE_FLAGS) expect(script).toMatch(new RegExp(`query .*${flag.split('=')[0]} `));
});

it.each(readdirSync(join(root, 'docker/temporal')).filter((file) => file.endsWith('.sh')))(
  '%s is valid POSIX shell',
  (file) => {
    execFileSync('sh', ['-n', join(root, 'docker/temporal', file)]);
  },
);

it('builds an image that is pinned, has glibc, runs as nobody special and starts the worker', () => {
  const dockerfile = read('Dockerfile');
  const instructions = (name: string) =>
    [...dockerfile.matchAll(new RegExp(`^${name} (.+)$`, 'gm'))].map(([, rest = '']) => rest);
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { worker: string } };

  expect(instructions('FROM')[0]).toMatch(/^node:20\.\d+\.\d+-bookworm-slim AS base$/);
  expect(
    instructions('FROM')
      .slice(1)
      .every((image) => /^base\b/.test(image)),
  ).toBe(true);
  expect(instructions('USER')).toEqual(['1000']);
  expect(instructions('CMD').map((command) => (JSON.parse(command) as string[]).join(' '))).toEqual([scripts.worker]);
  const copied = instructions('COPY').filter((words) => !words.startsWith('--from'));
  for (const source of copied.flatMap((words) => words.split(' ').slice(0, -1)))
    expect(existsSync(join(root, source)), source).toBe(true);
});
