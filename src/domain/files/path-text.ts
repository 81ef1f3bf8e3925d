/** Longer than any kernel takes: PATH_MAX and NAME_MAX of Linux, in bytes. */
const [LONGEST_PATH, LONGEST_NAME] = [4096, 255];

/** Why a text cannot be a path at all, or undefined. */
export function flawOfPath(path: string): string | undefined {
  if (path === '') return 'the path is empty';
  if (path.includes('\0')) return 'the path holds a NUL character';
  if (/\p{Surrogate}/u.test(path)) return 'the path is not Unicode text';
  const encoder = new TextEncoder();
  if (path.length > LONGEST_PATH || encoder.encode(path).length >= LONGEST_PATH) {
    return `the path is longer than ${LONGEST_PATH - 1} bytes`;
  }
  if (namesOf(path).some((name) => encoder.encode(name).length > LONGEST_NAME)) {
    return `a name in the path is longer than ${LONGEST_NAME} bytes`;
  }
  return undefined;
}

/** The names between the slashes. */
export function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '');
}

/** Whether an absolute path is this directory or lies in it. Both without dots, doubled or trailing slashes. */
export function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
}

/**
 * A path in which `.` and `..` have been taken away by text alone: for what does not exist and has no links. One that is not absolute keeps
 * those that lead out of where it begins.
 */
export function withoutDots(path: string): string {
  const top = path.startsWith('/') ? '/' : '';
  const kept: string[] = [];
  for (const name of namesOf(path)) {
    const leadsOut = top === '' && (kept.at(-1) ?? '..') === '..';
    if (name === '..' && !leadsOut) kept.pop();
    else if (name !== '.') kept.push(name);
  }
  return top + kept.join('/');
}

/** As file systems do that know a name in any case and composition. */
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
