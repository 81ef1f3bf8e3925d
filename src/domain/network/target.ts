import { whyNotPublic } from './address.ts';

export type Target =
  | { readonly ok: true; readonly url: URL; /** Set where the host is an address already. */ readonly address?: string }
  | { readonly ok: false; readonly because: string };

const MOST_CHARACTERS = 4096;

/**
 * Reads a URL that somebody else chose. Says no to what no honest URL needs: other schemes, credentials, and addresses
 * spelled so that a reader takes them for something else. A host that is an address is judged here; a name, once it is
 * resolved.
 */
export function readTarget(text: string, { allowPrivate = false } = {}): Target {
  if (text.length > MOST_CHARACTERS) return no(`a URL of ${text.length} characters is too long`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return no('it is no URL: one begins with https://');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return no(`${url.protocol} is neither http: nor https:`);
  if (url.username !== '' || url.password !== '') return no('it holds credentials');
  if (url.hostname.endsWith('.')) return no(`the host ${url.hostname} ends in a dot`);
  const address = addressOf(url.hostname);
  if (address === undefined) return { ok: true, url };
  if (!address.includes(':') && writtenHost(text) !== address) return no(`the host is ${address}, spelled another way`);
  const because = allowPrivate ? undefined : refusalOf(address);
  return because === undefined ? { ok: true, url, address } : no(because);
}

/** The sentence for an address that is not to be gone to; undefined where it may be. */
export function refusalOf(address: string): string | undefined {
  const why = whyNotPublic(address);
  if (why === undefined) return undefined;
  return `${address} is ${why === 'not an address' ? why : `${/^[aeiou]/.test(why) ? 'an' : 'a'} ${why} address`}`;
}

/** WHATWG URLs write every spelling of an IPv4 address in one way, and IPv6 in brackets. */
function addressOf(hostname: string): string | undefined {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^\d{1,3}(?:\.\d{1,3}){3}$/.test(hostname) ? hostname : undefined;
}

/** As it stands in the text, before anybody has made sense of it. */
function writtenHost(text: string): string | undefined {
  return /^[^:]*:[/\\]*([^/?#\\]*?)(?::\d*)?(?:[/?#\\]|$)/.exec(text)?.[1];
}

function no(because: string): Target {
  return { ok: false, because };
}
