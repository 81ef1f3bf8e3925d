import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Api } from './app.ts';
import { packageFile } from '../package-files.ts';
import { HttpProblem } from './problem.ts';

/** Everything from here and nothing inline; no text becomes markup or script, whoever wrote it. */
export const CONSOLE_POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  connectSrc: ["'self'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
  requireTrustedTypesFor: ["'script'"],
};

const FILES = [
  { path: '/', file: 'index.html', type: 'text/html; charset=utf-8' },
  { path: '/console/main.js', file: 'main.js', type: 'text/javascript; charset=utf-8' },
  { path: '/console/theme.js', file: 'theme.js', type: 'text/javascript; charset=utf-8' },
  { path: '/console/main.css', file: 'main.css', type: 'text/css; charset=utf-8' },
  { path: '/console/icon.svg', file: 'icon.svg', type: 'image/svg+xml' },
] as const;

export function isOfConsole(path: string): boolean {
  return FILES.some((file) => file.path === path);
}

/** The page, as it was built. It holds no data: what it shows it reads through the API like anybody else. */
export function consoleFiles(app: Api): void {
  for (const { path, file, type } of FILES) {
    let read: { readonly body: Uint8Array<ArrayBuffer>; readonly etag: string } | undefined;
    app.get(path, (c) => {
      read ??= readBuilt(file);
      const { body, etag } = read;
      // Asked for again each time, and answered with nothing where it is the same: a new version is never half there.
      const headers = { 'cache-control': 'no-cache', etag };
      if (c.req.header('if-none-match') === etag) return c.body(null, 304, headers);
      return c.body(body, 200, { ...headers, 'content-type': type });
    });
  }
}

function readBuilt(file: string) {
  const built = packageFile(`dist/console/${file}`);
  if (!existsSync(built)) throw new HttpProblem(404, 'Not found', 'The console has not been built: npm run build');
  const body = new Uint8Array(readFileSync(built));
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"` };
}
