import { readFileSync } from 'node:fs';
import { packageFile } from './package-files.ts';

export function version(): string {
  const { version: text } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string };
  return text;
}
