import { mkdir, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type pg from 'pg';
import { inheritedEnvironment, loadConfig } from '../config.ts';
import type { RunnerSection } from '../domain/execution/execution.schema.ts';
import type { Gate } from '../gate/gate.ts';
import { homeAt } from '../home.ts';
import { takeQuota } from '../postgres/execution-quota.ts';
import { readKillSwitch } from '../postgres/kill-switch.ts';
import { createPool } from '../postgres/pool.ts';
import { findRules } from '../rules-file.ts';
import { openAudit } from './audit/audit.ts';
import type { Executor } from './call.ts';
import { createExecution } from './execute.ts';
import type { Execution } from './execute.ts';
import { executorOf, firstOf } from './executor.ts';
import { executionRules } from './rules.ts';
import { findSandbox } from './sandbox.ts';
import type { Confinement, Sandbox } from './sandbox.ts';
import type { Controls } from './stages.ts';
import { fetchTool } from './tools/fetch.ts';
import { fileExecutor } from './tools/files.ts';
import { shellTool } from './tools/shell.ts';

export interface OpenOptions {
  /** Whose trust is consulted and who asks people. Without one only policy, audit and sandbox hold. */
  readonly gate?: Gate;
  /** Where kill switch and quota are kept. */
  readonly databaseUrl?: string;
  /** Where relative paths begin, and the root unless the rules name others. */
  readonly project?: string;
  /** Asked before Surety's own tools, in this order. */
  readonly executors?: readonly Executor[];
  /** In place of what surety.json says. */
  readonly runner?: Partial<RunnerSection>;
}

export interface OpenExecution extends Execution {
  readonly sandbox: Sandbox;
  close(): Promise<void>;
}

/** Surety's own tools, by the rules of the project. */
export async function openExecution(options: OpenOptions = {}): Promise<OpenExecution> {
  const config = loadConfig();
  const project = resolve(options.project ?? '.');
  const found = await findRules();
  const rules = await executionRules({ ...found, runner: { ...found.runner, ...options.runner } }, project);
  const { runner } = rules;
  const sandbox: Sandbox =
    runner.sandbox === 'off'
      ? { kind: 'none', because: 'runner.sandbox is off' }
      : await findSandbox(config.searchPath);
  const audit = openAudit(homeAt(config.home).audit, found.audit);
  const pool = options.databaseUrl === undefined ? undefined : createPool(options.databaseUrl, { max: 3 });
  const execution = createExecution({
    ...{ rules, audit, sandbox, gate: options.gate },
    executor: firstOf([
      ...(options.executors ?? []),
      executorOf(shellTool(rules, inheritedEnvironment())),
      fileExecutor(rules.files),
      executorOf(fetchTool()),
    ]),
    confinement: await confinementOf(rules.files.rules.roots, runner, project, config.home),
    controls: pool === undefined ? undefined : controlsIn(pool),
  });
  const close = async () => {
    await audit.close();
    await pool?.end();
  };
  return { ...execution, sandbox, close };
}

export function controlsIn(pool: pg.Pool): Controls {
  return { killSwitch: () => readKillSwitch(pool), takeQuota: (request) => takeQuota(pool, request) };
}

/** The audit and the ledger's password lie in the data directory, often within a root: no command sees it. */
async function confinementOf(
  roots: readonly string[],
  { writable, network }: RunnerSection,
  project: string,
  home: string,
): Promise<Confinement> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const more = await Promise.all(writable.map((path) => realpath(resolve(project, path))));
  return { writable: [...roots, ...more], hidden: [await realpath(home)], network };
}
