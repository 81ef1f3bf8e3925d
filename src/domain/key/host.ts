/** What a URL, or a text used as one, points at. */
type Location = { readonly host: string } | { readonly file: string };

const MOST_CHARACTERS = 2048;

/**
 * Where a URL leads: its host in lower case without port, credentials and trailing dot, or the path of a `file:` URL.
 * Also `host:port`, `git@host:path`, and a host without a scheme. Undefined for relative URLs and those without a host.
 */
export function locationOf(text: string): Location | undefined {
  const url = text.slice(0, MOST_CHARACTERS).trim();
  if (/^file:/i.test(url)) {
    const path = url.replace(/^file:(?:\/\/[^/]*)?/i, '');
    return path === '' ? undefined : { file: decode(path) };
  }
  const authority = authorityOf(url);
  const host = authority === undefined ? undefined : hostOfAuthority(authority);
  return host === undefined ? undefined : { host };
}

/** Whether a text says by itself that it is a URL. */
export function isUrl(text: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:)+\/\/|^file:/i.test(text.slice(0, 100).trimStart());
}

/** The part between scheme and path. */
function authorityOf(url: string): string | undefined {
  const absolute = /^(?:(?:[a-z][a-z0-9+.-]*:)+)?[/\\]{2}([^/?#\\]*)/i.exec(url);
  if (absolute) return absolute[1];
  const remote = /^[\w.+-]+@([\w.-]+):(?!\d+(?:\/|$))/.exec(url);
  if (remote) return remote[1];
  // Bare IPv6; any other `word:` is a scheme without authority (mailto:, data:), unless a port follows.
  if (/^[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*$/i.test(url)) return `[${url}]`;
  if (/^[a-z][a-z0-9+.-]*:(?!\d+(?:[/?#]|$))/i.test(url) || /^[./?#~]/.test(url)) return undefined;
  return /^[^/?#\\]*/.exec(url)?.[0];
}

/** Read as a web host, whatever the scheme: only so are case, IDN and odd spellings of addresses settled. */
function hostOfAuthority(authority: string): string | undefined {
  // Several hosts (`mongodb://a:1,b:2`) stand for one service; the first names it.
  const first = authority.slice(authority.lastIndexOf('@') + 1).split(',', 1)[0] ?? '';
  if (first === '' || /\s/.test(first)) return undefined;
  const host = parsedHost(first) ?? parsedHost(first.replace(/:[^:\]]*$/, ''));
  // A template that was never filled in (`https://{host}/`) names no host.
  return /^\[?([a-z0-9._:~-]*[a-z0-9_:~-])\]?\.*$/.exec(host ?? '')?.[1];
}

function parsedHost(host: string): string | undefined {
  const url = `https://${host}`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** A path with a stray `%` is still a path. */
function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
