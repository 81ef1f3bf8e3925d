import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestProject } from 'vitest/node';
import { loadConfig } from '../../src/config.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { createPartitions } from '../../src/postgres/partitions.ts';
import { createPool } from '../../src/postgres/pool.ts';
import { startStack } from '../../src/stack/stack.ts';
import { freePort } from './free-port.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** One real Postgres and one real Temporal for all test files; each file makes itself an installation on them. */
    servers: { databaseUrl: string; template: string; temporalAddress: string; temporalBinary: string };
  }
}

const CACHE = resolve('.surety', 'cache');

export default async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  // Every group of tests asks for them; whoever comes first starts them for all.
  if ('servers' in vitest.getRootProject().getProvidedContext()) return undefined;
  // Child processes of the tests run what users run: the build, never a stale one.
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  const home = await mkdtemp(join(tmpdir(), 'surety-test-'));
  const [temporal, ui, postgres] = await Promise.all([freePort(), freePort(), freePort()]);
  const config = loadConfig({
    PATH: process.env['PATH'],
    SURETY_HOME: home,
    SURETY_CACHE: CACHE,
    SURETY_TEMPORAL_PORT: String(temporal),
    SURETY_UI_PORT: String(ui),
    SURETY_POSTGRES_PORT: String(postgres),
  });
  const stack = await startStack(config, { progress: (message) => console.log(message) });
  const template = 'surety_template';
  const admin = createPool(stack.databaseUrl, { max: 1 });
  await admin.query(`create database ${template}`);
  await admin.end();
  const databaseUrl = withDatabase(stack.databaseUrl, template);
  const pool = createPool(databaseUrl, { max: 1 });
  await migrate(pool);
  await createPartitions(pool, Date.now());
  await pool.end();
  vitest.provide('servers', {
    databaseUrl: stack.databaseUrl,
    template,
    temporalAddress: stack.temporal.address,
    temporalBinary: join(CACHE, 'temporal'),
  });
  return async () => {
    await stack.stop();
    await rm(home, { recursive: true, force: true });
  };
}

export function withDatabase(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}
