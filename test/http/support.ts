import { serveHttp } from '../../src/http/serve.ts';
import { createToken } from '../../src/postgres/tokens.ts';
import type { Role } from '../../src/postgres/tokens.ts';
import type { Installation } from '../support/installation.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The API of an installation, and a way to call it. */
export async function serveFor({ databaseUrl, pool }: Installation) {
  const temporalUi = { url: 'http://127.0.0.1:9', namespace: 'n' };
  const api = await serveHttp({ databaseUrl, host: '127.0.0.1', port: 0, temporalUi });
  return {
    url: api.url,
    close: () => api.close(),
    token: async (name: string, roles: readonly Role[]) =>
      createToken(pool, { name, owner: name, roles, createdBy: 't' }),
    call: async (method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Answer> => {
      const response = await fetch(`${api.url}${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: JSON.parse(text || '{}') as Answer['body'] };
    },
  };
}

export const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
