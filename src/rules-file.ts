import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
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
    const text = await textOf(file).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw unreadable(file, error);
    });
    if (text !== undefined) return { file, rules: rulesIn(file, text) };
  }
  return undefined;
}

export async function readRulesFile(file: string): Promise<Rules> {
  const text = await textOf(file).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  return rulesIn(file, text);
}

/** Of a file: a pipe would be waited for, and a device has no end. Editors of some systems put a mark in front. */
async function textOf(file: string): Promise<string> {
  const opened = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await opened.stat()).isFile()) throw new Error('it is no file');
    return (await opened.readFile('utf8')).replace(/^\ufeff/, '');
  } finally {
    await opened.close();
  }
}

function unreadable(file: string, cause: unknown): Problem {
  return new Problem(`${file} cannot be read: ${reasonOf(cause)}`, 'Name a file that is there, and may be read.', {
    cause,
  });
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
