import type { Context } from 'hono';
import { isJson, notJson } from './only-json.ts';
import { HttpProblem } from './problem.ts';

/**
 * A browser sends the cookie along with whatever a page of somebody else makes it send; to a browser, every port of this
 * machine is even the same site. So a write by cookie must come from our own page, which the browser says in headers that no
 * page can set, and be JSON, which no form can send.
 */
export function refuseForeign(c: Context): void {
  if (!comesFromOurPage(c)) {
    throw new HttpProblem(
      403,
      'Not allowed',
      'A signed-in write must come from the console itself; send a token instead.',
    );
  }
  if (c.req.method !== 'DELETE' && !isJson(c)) throw notJson();
}

function comesFromOurPage(c: Context): boolean {
  const site = c.req.header('sec-fetch-site');
  // Also right where a proxy in front of us has another name.
  if (site !== undefined) return site === 'same-origin';
  const origin = c.req.header('origin');
  // By host only: that proxy may speak TLS where we do not.
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === c.req.header('host');
}
