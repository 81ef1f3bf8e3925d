import { access, constants } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config.ts';
import { isWithin } from '../domain/files/path-text.ts';
import type { Rules } from '../domain/rules/rules.schema.ts';
import { trustedPlaces } from '../execution/find-program.ts';
import { sandboxOf, writableOf } from '../execution/open.ts';
import { executionRules } from '../execution/rules.ts';
import { findSandbox } from '../execution/sandbox.ts';
import { findBash } from '../execution/shell/bash.ts';
import { codeOf, Problem } from '../problem.ts';
import { findRules } from '../rules-file.ts';
import { readStack } from '../stack/stack-file.ts';
import { failed, failedBy, note, ok } from './finding.ts';
import type { Finding } from './finding.ts';
import { fromNow } from './time.ts';

const OLDEST_NODE = [20, 19] as const;

/** What can be found out without asking a server. Answers whether a stack of our own runs. */
export async function checkMachine(config: Config, tell: (finding: Finding) => void): Promise<boolean> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isNew = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  tell(
    isNew
      ? ok('Node', process.version)
      : failed('Node', `${process.version} is too old`, `Install Node ${OLDEST_NODE.join('.')} or newer.`),
  );
  tell(await checkHome(config.home));
  for (const finding of await checkConfinement(config.searchPath)) tell(finding);
  const stack = await readStack(config.home);
  if (stack.running) {
    const { pid, startedAt } = stack.stack;
    tell(ok('Stack', `runs as process ${pid}, started ${fromNow(Date.parse(startedAt), Date.now())}`));
  } else if (config.databaseUrl !== undefined && config.temporal.external) {
    tell(ok('Stack', 'none of our own: DATABASE_URL and TEMPORAL_ADDRESS name servers'));
  } else {
    const wayOut = 'Start it: surety up (in a clone: npm start). Or set SURETY_HOME to where it runs.';
    tell(failed('Stack', stack.because, wayOut));
  }
  return stack.running;
}

/** What runs commands and what confines them here, by the rules that would be in force. */
async function checkConfinement(searchPath: readonly string[]): Promise<readonly Finding[]> {
  try {
    const rules = await findRules();
    const { files } = await executionRules(rules, process.cwd());
    const writable = [...files.rules.roots, ...(await writableOf(rules.runner, process.cwd()))];
    const places = await trustedPlaces(searchPath, writable);
    return [await checkBash(places), await checkSandbox(rules, places), ...checkOwnCode(writable)];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const bash = await checkBash(await trustedPlaces([], []));
    return [bash, failed('Sandbox', `nobody can tell: ${error.message}`, error.wayOut)];
  }
}

/** Whoever may change what holds them is not held. */
function checkOwnCode(writable: readonly string[]): readonly Finding[] {
  const own = fileURLToPath(import.meta.url);
  const root = writable.find((each) => isWithin(each, own));
  if (root === undefined) return [];
  const found = `lies in ${root}, which commands may write: what they change of it holds from the next start on`;
  return [note('Own code', found, 'Install Surety outside of what your agents may write: npm install --global.')];
}

async function checkBash(places: readonly string[]): Promise<Finding> {
  const bash = await findBash(places);
  return bash.found ? ok('Shell', `${bash.program} runs commands`) : note('Shell', bash.because, bash.wayOut);
}

async function checkSandbox({ runner }: Rules, places: readonly string[]): Promise<Finding> {
  const sandbox = await sandboxOf(runner, () => findSandbox(places));
  if (sandbox.kind !== 'none')
    return ok('Sandbox', `${sandbox.kind} (${sandbox.program}) confines commands that are run`);
  const wayOut =
    'Commands run with all that this user may do; only the policy holds them. Linux: install bubblewrap, and set runner.sandbox to auto.';
  if (runner.sandbox === 'required' || !runner.network) {
    const wanted = runner.sandbox === 'required' ? 'runner.sandbox is required' : 'runner.network is off';
    return failed('Sandbox', `${wanted}, so no command runs: ${sandbox.because}`, 'Linux: install bubblewrap.');
  }
  return note('Sandbox', sandbox.because, wayOut);
}

async function checkHome(home: string): Promise<Finding> {
  try {
    await access(home, constants.R_OK | constants.W_OK);
    return ok('Data directory', home);
  } catch (error) {
    if (codeOf(error) === 'ENOENT')
      return note('Data directory', `${home} does not exist yet; the first start makes it`);
    return failedBy('Data directory', error, 'Set SURETY_HOME to a directory you may write to.');
  }
}
