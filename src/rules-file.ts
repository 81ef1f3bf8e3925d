import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { InvalidRules, parseRules } from './domain/rules/parse-rules.ts';
import type { Rules } from './domain/rules/rules.schema.ts';
import { codeOf, Problem, reasonOf } from './problem.ts';

/** surety.json of the project, then of the user. */
export function rulesFiles(project = '.'): readonly string[] {
  return [resolve(project, 'surety.json'), join(homedir(), '.surety', 'surety.json')];
}

export async function findRules(project = '.'): Promise<Rules> {
  return (await findRulesFile(project))?.rules ?? parseRules({});
}

export async function findRulesFile(project = '.'): Promise<{ file: string; rules: Rules } | undefined> {
  for (const file of rulesFiles(project)) {
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (text !== undefined) return { file, rules: rulesIn(file, text) };
  }
  return undefined;
}

export async function readRulesFile(file: string): Promise<Rules> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Problem(`${file} cannot be read: ${reasonOf(error)}`, 'Name a file that is there.', {
      cause: error,
    });
  });
  return rulesIn(file, text);
}

function rulesIn(file: string, text: string): Rules {
  try {
    return parseRules(JSON.parse(text));
  } catch (error) {
    if (error instanceof InvalidRules) {
      throw new Problem(
        `${file} has no valid rules:\n  ${error.complaints.join('\n  ')}`,
        'docs/rules.md explains each key.',
        {
          cause: error,
        },
      );
    }
    throw new Problem(`${file} is not JSON: ${reasonOf(error)}`, 'Correct the file.', { cause: error });
  }
}
