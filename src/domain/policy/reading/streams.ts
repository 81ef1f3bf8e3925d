import { HOLE } from '../../command/expand.ts';
import type { Consequence } from '../programs/consequence.ts';

/** Where the system shows streams, and programs that are running, as if they were files. */
const SYSTEM = /^\/(?:dev(?!\/null$|\/shm(?:\/|$))|proc)(?:\/|$)/;
/** Where one is, and where links on the way lead, a name does not tell: `dev/stdin`, `/var/run/../dev/stdin`. */
const REACHED = /(?:^|\/)(?:dev\/(?:stdin$|fd\/)|proc\/(?:self|thread-self|[\d\uffff]+)\/)/;
const DESCRIPTOR = /\/fd\/\d+$/;
const STANDARD_INPUT = /^(?:-|\/dev\/(?:stdin|fd\/0)|\/proc\/self\/fd\/0)$/;

/** Whether a name, in whatever spelling, leads to where streams are: what comes from there is no file that lies somewhere. */
export function isStream(path: string): boolean {
  if (path === '-') return true;
  // Most names have no directory.
  if (!path.includes('/')) return false;
  // `/de?/stdin`
  if (/^\/+[^/]*[*?[]/.test(path)) return true;
  if (!/dev|proc|fd/.test(path)) return false;
  const isClimbing = path.includes('..') && DESCRIPTOR.test(path);
  return isClimbing || SYSTEM.test(normalised(path)) || REACHED.test(collapsed(path));
}

/** The same of a file that is to be run: by a name that streams have where they are, one may be there by then. */
export function mayBeStream(path: string): boolean {
  return isStream(path) || /(?:^|\/)(?:stdin|\d+)$/.test(path);
}

export function isStandardInput(path: string): boolean {
  return STANDARD_INPUT.test(normalised(path));
}

/** Code that is read from a place: a stream and a place that nobody knows are as good as the input. */
export function codeFrom(path = HOLE): Consequence {
  return mayBeStream(path) || path.includes(HOLE) ? { type: 'input' } : { type: 'file', path };
}

function collapsed(path: string): string {
  return path.replace(/\/(?:\.?\/)+/g, '/');
}

/** `/dev/./x/..//stdin` is `/dev/stdin`. */
function normalised(path: string): string {
  if (!path.startsWith('/')) return path;
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return `/${names.join('/')}`;
}
