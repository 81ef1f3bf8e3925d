// Swaps things for links that lead out, and back again, as fast as it can. Arguments: the root, the outside, names.
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [root = '', outside = '', ...names] = process.argv.slice(2);
const parent = process.ppid;
const attic = join(root, '.attic');
mkdirSync(attic, { recursive: true });

/** Whoever is tested deletes and moves what we swap; it is then made again. */
function attempt(step: () => void): void {
  try {
    step();
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
  }
}

process.stdout.write('ready\n');
for (let round = 0; process.ppid === parent; round += 1) {
  for (const name of names) {
    const [at, real, link] = [join(root, name), join(attic, `real-${name}`), join(attic, `link-${name}`)];
    const isFile = name.startsWith('file');
    attempt(() => symlinkSync(isFile ? join(outside, 'secret.txt') : round % 2 === 0 ? outside : '../outside', link));
    attempt(() => (isFile ? writeFileSync(real, 'inside', { flag: 'wx' }) : mkdirSync(real)));
    attempt(() => {
      if (!isFile) writeFileSync(join(real, 'secret.txt'), 'inside', { flag: 'wx' });
    });
    attempt(() => rmSync(at, { recursive: round % 64 === 0, force: true }));
    for (let turn = 0; turn < 20; turn += 1) {
      attempt(() => renameSync(real, at));
      attempt(() => renameSync(at, real));
      attempt(() => renameSync(link, at));
      attempt(() => renameSync(at, link));
    }
    attempt(() => renameSync(turnOf(round) ? real : link, at));
  }
}

function turnOf(round: number): boolean {
  return round % 3 !== 0;
}
