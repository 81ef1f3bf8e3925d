import type { Category, Severity } from './outcome.ts';

/** What a number or a name alone says about a failure. */
export interface Meaning {
  readonly severity: Severity;
  readonly category: Category;
}

const quality = (severity: Severity): Meaning => ({ severity, category: 'quality' });
const unreachable = (severity: Severity): Meaning => ({ severity, category: 'reachability' });
const REFUSED: Meaning = { severity: 'permission', category: 'auth' };

/** 400, 407, 408, 410, 422 and the like say too little: the message decides. */
export function meaningOfHttp(status: number): Meaning | undefined {
  if (status === 401 || status === 403) return REFUSED;
  if (status === 404) return quality('not_found');
  if (status === 429) return quality('transient');
  if (status >= 502 && status <= 504) return unreachable('server_error');
  return status >= 500 && status < 600 ? quality('server_error') : undefined;
}

/** The shell's conventions; all else a program means by its exit code, only the program knows. */
export function meaningOfExit(code: number): Meaning | undefined {
  if (code === 124) return unreachable('timeout');
  if (code === 126) return quality('permission');
  if (code === 127) return quality('not_found');
  // 128 + signal from a shell, minus the signal from Python, an NTSTATUS from Windows.
  return code < 0 || (code > 128 && code <= 192) || code >= 0xc0000000 ? quality('crash') : undefined;
}

const BY_NAME: ReadonlyMap<string, Meaning> = new Map(
  [
    [unreachable('timeout'), 'etimedout esockettimedout timeout readtimeout connecttimeout timeoutexpired'],
    [unreachable('timeout'), 'deadlineexceeded underrconnecttimeout underrheaderstimeout underrbodytimeout -32001'],
    // Aborted by a deadline or by a person: nobody can tell, so it is not held against the server.
    [quality('timeout'), 'abort aborted'],
    [unreachable('server_error'), 'econnrefused econnreset econnaborted enotfound eaiagain ehostunreach enetunreach'],
    [
      unreachable('server_error'),
      'ehostdown enetdown underrsocket connection connectionrefused connectionreset connect',
    ],
    [unreachable('server_error'), 'errnetwork network unavailable serviceunavailable badgateway certhasexpired'],
    [unreachable('server_error'), 'depthzeroselfsignedcert selfsignedcertinchain unabletoverifyleafsignature'],
    [unreachable('crash'), 'epipe brokenpipe errstreamdestroyed erripcchannelclosed connectionclosed'],
    [
      quality('crash'),
      'enomem memory outofmemory errworkeroutofmemory sigsegv sigkill sigabrt sigbus sigill sigfpe sigterm',
    ],
    [quality('permission'), 'eacces eperm erofs permission'],
    [REFUSED, 'authentication unauthenticated unauthorized accessdenied permissiondenied forbidden invalidapikey'],
    [REFUSED, 'invalidtoken expiredtoken tokenexpired invalidcredentials'],
    [quality('not_found'), 'enoent enotdir filenotfound notfound modulenotfound errmodulenotfound -32601 -32002'],
    [
      quality('transient'),
      'ratelimit ratelimitexceeded throttling toomanyrequests resourceexhausted overloaded ebusy eagain',
    ],
    [quality('validation'), 'zod validation schema schemavalidation responsevalidation jsondecode syntax parse -32700'],
    [quality('invalid_input'), 'einval value invalidargument errinvalidargtype errinvalidargvalue invalidrequest'],
    [quality('invalid_input'), 'invalidparams badrequest -32602 -32600'],
    [quality('corruption'), 'datacorruption checksummismatch integrity'],
  ].flatMap(([meaning, names]) => (names as string).split(' ').map((name) => [name, meaning as Meaning] as const)),
);

/** What an error's class, code or type says: `ECONNREFUSED`, `asyncio.TimeoutError`, `rate_limit_error`, JSON-RPC's -32601. */
export function meaningOfName(name: string): Meaning | undefined {
  return BY_NAME.get(plainName(name));
}

/** One spelling for all: `asyncio.TimeoutError` is `timeout`, `ERR_CANCELED` is `errcanceled`. */
export function plainName(name: string): string {
  if (/^-\d+$/.test(name)) return name;
  const last = name.split(/[.:]+/).at(-1) ?? '';
  return last
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replace(/(?:error|exception)$/, '');
}
