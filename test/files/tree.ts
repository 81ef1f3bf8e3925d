import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { FileSection } from '../../src/domain/files/files.schema.ts';
import { openSandbox } from '../../src/execution/files/sandbox.ts';
import type { FileSandbox } from '../../src/execution/files/sandbox.ts';

/** A directory of a test's own, with the tree that the cases are about. */
export interface Tree {
  readonly base: string;
  readonly root: string;
  open(section?: object, anchoring?: FileSandbox['anchoring']): Promise<FileSandbox>;
  text(path: string): string;
  remove(): void;
}

export function growTree(): Tree {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'surety-files-')));
  const root = join(base, 'root');
  const files = {
    'root/a.txt': 'inside a',
    'root/src/main.rs': 'fn main() {}',
    'root/.env': 'KEY=1',
    'root/secrets/key.txt': 'inside key',
    'root/public/readme.md': 'inside readme',
    'root/.git/config': '[core]',
    'outside/secret.txt': 'OUTSIDE secret',
    'root-evil/x.txt': 'OUTSIDE sibling',
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), content);
  }
  symlinkSync('../outside/secret.txt', join(root, 'link_out'));
  symlinkSync('../outside', join(root, 'link_dir'));
  symlinkSync('a.txt', join(root, 'link_in'));
  symlinkSync('.env', join(root, 'link_env'));
  symlinkSync('../outside/newfile.txt', join(root, 'dangling'));
  return {
    base,
    root,
    open: (section = {}, anchoring) =>
      openSandbox(FileSection.parse(section), root, anchoring === undefined ? {} : { anchoring }),
    text: (path) => readFileSync(join(base, path), 'utf8'),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}
