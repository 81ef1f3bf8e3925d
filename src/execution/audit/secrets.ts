import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
import { splitTokens } from '../../domain/outcome/secrets.ts';

const RULES = [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator, options: {} }];

/** Every detector wants a long run of letters and digits, a password in a URL, or the head of a key. */
const WORTH_A_LOOK = /[A-Za-z0-9_+=-]{16}|:\/\/\S*@|PRIVATE KEY|password|secret/i;

/** A piece that is shorter gives nothing away and is found everywhere. */
const SHORTEST = 4;

/** The credentials in these texts, as secretlint's detectors and our own shapes know them; also one cut in two. */
export async function findSecrets(texts: readonly string[]): Promise<readonly string[]> {
  const together = texts.join('\n\n');
  const found = new Set(splitTokens(texts));
  if (WORTH_A_LOOK.test(together)) {
    const source = { content: together, filePath: 'audit.txt', ext: '.txt', contentType: 'text' as const };
    const { messages } = await lintSource({ source, options: { config: { rules: RULES }, noPhysicFilePath: true } });
    for (const { range } of messages) found.add(together.slice(...range));
  }
  return [...found].filter(({ length }) => length >= SHORTEST).sort((a, b) => b.length - a.length);
}
