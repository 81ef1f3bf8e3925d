/** A POSIX path without `.`, `..`, doubled or trailing slashes. Drives and backslashes of Windows become POSIX too. */
export function normalisePath(path: string): string {
  const posix = path.replaceAll('\\', '/');
  const drive = /^[A-Za-z]:/.exec(posix)?.[0].toUpperCase() ?? '';
  const rest = posix.slice(drive.length);
  const root = rest.startsWith('/') ? '/' : '';
  const kept: string[] = [];
  for (const part of rest.split('/')) {
    // Spaces around a name are a slip more often than a name.
    const segment = part.trim();
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') kept.push(segment);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (root === '') kept.push('..');
  }
  return `${drive}${root}${kept.join('/')}` || '.';
}

/** The directory a path lies in; a path that ends in a slash is one. */
export function directoryOf(path: string): string {
  const normal = normalisePath(path);
  return /[/\\]\.{0,2}$|^\.{1,2}$|^~$/.test(path) ? normal : normalisePath(`${normal}/..`);
}
