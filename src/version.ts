import { existsSync, readFileSync } from 'node:fs';

/** From package.json, which lies one directory higher for what was built than for the source. */
export function version(): string {
  const candidates = ['../package.json', '../../package.json'].map((path) => new URL(path, import.meta.url));
  const found = candidates.find((url) => existsSync(url));
  const { version: text } = JSON.parse(found === undefined ? '{}' : readFileSync(found, 'utf8')) as {
    version?: string;
  };
  return text ?? 'unknown';
}
