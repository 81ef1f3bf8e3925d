import { field, storable } from '../outcome/field.ts';
import { redactTokens } from '../outcome/secrets.ts';
import { Recent } from '../recent.ts';
import { bounded } from './bounded.ts';

/** A tool as agents name it: the server that offers it (an MCP server, a plugin, or `local`) and its name there. */
export interface ToolRef {
  readonly server: string;
  readonly name: string;
}

const LOCAL = 'local';
const MOST_BYTES = 200;

/** Identity of a tool, and the id of its workflow. Opaque: made here, compared, never taken apart. */
export function toolKey(server: string, name: string): string {
  return bounded(`tool:${encodePart(server)}/${encodePart(name)}`, MOST_BYTES);
}

export function serverKey(name: string): string {
  return bounded(`server:${encodePart(name)}`, MOST_BYTES);
}

/** A name as it is written down anywhere: whoever builds tools may have put a token into one. */
export function shownName(name: string): string {
  const known = SHOWN.get(name);
  if (known !== undefined) return known;
  const shown = storable(redactTokens(name));
  SHOWN.set(name, shown);
  return shown;
}

/** The same few names come with every report, and looking through one costs more than all else that is done with it. */
const SHOWN = new Recent<string, string>(10_000);

/** The server a report speaks of; agents that know only their calls may name it among the arguments. */
export function serverOf(report: { readonly server?: string | undefined; readonly args?: unknown }): string {
  if (report.server !== undefined && report.server !== '') return report.server;
  const named = field(report.args, '_mcp_server');
  return typeof named === 'string' && named !== '' ? named : LOCAL;
}

/**
 * Everything but unreserved characters as percent-escapes. `~` is escaped too: it sets off the hash of a long key. Lone
 * surrogates, which `encodeURIComponent` refuses, get the three bytes they would have, so they stay apart as well.
 */
function encodePart(part: string): string {
  return redactTokens(part).replace(/[^A-Za-z0-9._-]/gu, (character) =>
    /\p{Surrogate}/u.test(character) ? encodeSurrogate(character.charCodeAt(0)) : encodeAscii(character),
  );
}

/** `encodeURIComponent` leaves `!'()*~` alone. */
function encodeAscii(character: string): string {
  const encoded = encodeURIComponent(character);
  return encoded.length > 1 ? encoded : `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function encodeSurrogate(unit: number): string {
  return [0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)]
    .map((byte) => `%${byte.toString(16).toUpperCase()}`)
    .join('');
}
