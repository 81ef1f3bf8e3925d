import { mkdir, realpath } from 'node:fs/promises';
import { delimiter, resolve } from 'node:path';
import type pg from 'pg';
import { inheritedEnvironment, loadConfig } from '../config.ts';
import type { RunnerSection } from '../domain/execution/execution.schema.ts';
import type { Rules } from '../domain/rules/rules.schema.ts';
import type { Gate } from '../gate/gate.ts';
import { homeAt } from '../home.ts';
import { takeQuota } from '../postgres/execution-quota.ts';
import { readKillSwitch } from '../postgres/kill-switch.ts';
import { createPool } from '../postgres/pool.ts';
import { Problem, reasonOf } from '../problem.ts';
import { findRules, rulesFiles } from '../rules-file.ts';
import { openAudit } from './audit/audit.ts';
import { indexed } from './audit/indexed.ts';
import type { Executor } from './call.ts';
import { createExecution } from './execute.ts';
import type { Execution } from './execute.ts';
import { executorOf, firstOf } from './executor.ts';
import { findNamed, trustedPlaces } from './find-program.ts';
import type { FetchOptions } from './fetch.ts';
import { refusingPrograms } from './refusing.ts';
import { executionRules } from './rules.ts';
import { sandboxForCommands } from './files/sandbox.ts';
import type { OwnFiles } from './files/sandbox.ts';
import type { ExecutionRules } from './rules.ts';
import { findSandbox, seenFrom } from './sandbox.ts';
import type { Confinement, Sandbox } from './sandbox.ts';
import { findBash } from './shell/bash.ts';
import type { Controls } from './stages.ts';
import { followRules } from './terms.ts';
import type { Terms } from './terms.ts';
import { fetchTool } from './tools/fetch.ts';
import { fileExecutor } from './tools/files.ts';
import { shellTool } from './tools/shell.ts';

export interface OpenOptions {
  /** Whose trust is consulted and who asks people. Without one only policy, audit and sandbox hold. */
  readonly gate?: Gate;
  /** Where kill switch and quota are kept. */
  readonly databaseUrl?: string;
  /** Where relative paths begin, the root unless the rules name others, and where surety.json is looked for. */
  readonly project?: string;
  /** Asked before Surety's own tools, in this order. */
  readonly executors?: readonly Executor[];
  /** In place of what surety.json says. */
  readonly runner?: Partial<RunnerSection>;
  /** For whoever may reach more than an agent may. */
  readonly fetch?: Pick<FetchOptions, 'allowPrivate'>;
  /** Told of a surety.json that cannot be used; the rules in force stay. A warning of the process, unless given. */
  readonly onRulesRefused?: (problem: Error) => void;
}

export interface OpenExecution extends Execution {
  readonly sandbox: Sandbox;
  close(): Promise<void>;
}

/** Surety's own tools, by the rules of the project. Edits of surety.json hold from the next call on. */
export async function openExecution(options: OpenOptions = {}): Promise<OpenExecution> {
  const config = loadConfig();
  const project = resolve(options.project ?? '.');
  const environment = inheritedEnvironment();
  const environmentFor = async ({ kind }: Sandbox, { shell }: ExecutionRules) => {
    if (kind !== 'none') return environment;
    const first = await refusingPrograms(config.home, shell.current.blockedName, config.searchPath);
    const path = [first, environment['PATH']].filter((each) => each !== undefined).join(delimiter);
    return { ...environment, PATH: path };
  };
  const termsOf = async (found: Rules): Promise<Terms> => {
    const runner = { ...found.runner, ...options.runner };
    if (runner.network && !found.runner.network)
      throw new Problem(
        'surety.json keeps commands off the network',
        'Only runner.network in surety.json lets them there.',
      );
    const rules = await executionRules({ ...found, runner }, project, ownFiles(config.home, project));
    const writable = await writableOf(runner, project);
    const places = await trustedPlaces(config.searchPath, [...rules.files.rules.roots, ...writable]);
    const sandbox = await sandboxOf(runner, () => findSandbox(places));
    const executor = firstOf([
      ...(options.executors ?? []),
      executorOf(shellTool(rules, await environmentFor(sandbox, rules), await findBash(places))),
      fileExecutor(rules.files),
      executorOf(fetchTool(options.fetch)),
    ]);
    const commandFiles = await sandboxForCommands(rules.files, writable, seenFrom(sandbox));
    const blocked = sandbox.kind === 'none' ? [] : await findNamed(rules.shell.current.blockedName, config.searchPath);
    const confinement = confinementOf(rules, writable, blocked);
    return { rules, executor, sandbox, confinement, commandFiles };
  };
  const first = await findRules(project);
  // Hidden from commands, which takes that it is there. Where it cannot be made, the audit says so before anything runs.
  await mkdir(config.home, { recursive: true, mode: 0o700 }).catch(() => undefined);
  const terms = await followRules(project, first, termsOf, options.onRulesRefused ?? warn);
  const files = openAudit(homeAt(config.home).audit, first.audit);
  const pool = options.databaseUrl === undefined ? undefined : createPool(options.databaseUrl, { max: 3 });
  const audit = pool === undefined ? files : indexed(files, pool);
  const controls = pool === undefined ? undefined : controlsIn(pool);
  const execution = createExecution({ terms, audit, gate: options.gate, controls });
  const close = async () => {
    await audit.close();
    await pool?.end();
  };
  return { ...execution, sandbox: terms.current.sandbox, close };
}

export function controlsIn(pool: pg.Pool): Controls {
  return { killSwitch: () => readKillSwitch(pool), takeQuota: (request) => takeQuota(pool, request) };
}

/** No tool touches the data directory, with the audit and the ledger's password; none changes the rules. */
export function ownFiles(home: string, project: string): OwnFiles {
  return { kept: [home], fixed: rulesFiles(project) };
}

/** What would confine a command, by the rules; `find` is asked only where they want to know. */
export async function sandboxOf(
  { sandbox }: Pick<RunnerSection, 'sandbox'>,
  find: () => Promise<Sandbox>,
): Promise<Sandbox> {
  return sandbox === 'off' ? { kind: 'none', because: 'runner.sandbox is off' } : find();
}

/** Where commands may write besides the roots. */
export async function writableOf(
  { writable }: Pick<RunnerSection, 'writable'>,
  project: string,
): Promise<readonly string[]> {
  return Promise.all(
    writable.map((path) =>
      realpath(resolve(project, path)).catch((cause: unknown) => {
        const wayOut = 'Make that directory, or take it out of surety.json.';
        throw new Problem(`runner.writable has ${path}: ${reasonOf(cause)}`, wayOut, { cause });
      }),
    ),
  );
}

/** Blocked programs are hidden as well: where there is a wall, it is not left to the policy to see every way to them. */
function confinementOf(
  { files, runner }: ExecutionRules,
  writable: readonly string[],
  blocked: readonly string[],
): Confinement {
  const { roots, kept, fixed } = files.rules;
  const hidden = [...kept, ...blocked];
  return { writable: [...roots, ...writable], hidden, readOnly: fixed, network: runner.network };
}

function warn(problem: Error): void {
  process.emitWarning(`surety.json is not used, the rules in force stay: ${problem.message}`);
}
