import type { OpenAPIHono } from '@hono/zod-openapi';
import { isJudgedAnew } from './idempotency.ts';

type Document = ReturnType<OpenAPIHono['getOpenAPI31Document']>;
type Paths = NonNullable<Document['paths']>;
type Operation = NonNullable<Paths[string]['get']>;

const RETRY_AFTER = {
  'Retry-After': { description: 'seconds until it may help to ask again', schema: { type: 'integer' } },
};
const REPLAYED = {
  'Idempotency-Replayed': { description: 'true where it was done before', schema: { type: 'string' } },
};
const KEY: NonNullable<Operation['parameters']>[number] = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'sent again with the same key it is done once, and answered as it was',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,200}$' },
};

/**
 * Says of every route of the API what stands before all of them: who asks, how often, what may be sent. So no route has to, and
 * none forgets it. (405 is what a method answers that is not described.)
 */
export function described(document: Document): Document {
  const paths = Object.entries(document.paths ?? {}).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods as Record<string, Operation>).map(([method, operation]) => [
        method,
        path.startsWith('/v1/') ? operationOf(path, method, operation) : operation,
      ]),
    ),
  ]);
  return { ...document, paths: Object.fromEntries(paths) as Paths };
}

function operationOf(path: string, method: string, operation: Operation): Operation {
  const isWrite = method !== 'get';
  // Signing in and out is reached without a token, and is no write that is kept.
  const isKeyed = isWrite && path !== '/v1/session' && !isJudgedAnew(path);
  const isOfSomeone = path !== '/v1/session' || method === 'post';
  const mayBeWrong = isKeyed || operation.requestBody !== undefined || operation.parameters !== undefined;
  const refusals: Record<string, object> = {
    ...(mayBeWrong ? { 400: problem('not understood') } : {}),
    ...(isOfSomeone ? { 401: problem('no token, or none that is known') } : {}),
    ...(isOfSomeone || isWrite ? { 403: problem('the token, or where it comes from, may not') } : {}),
    ...(isKeyed ? { 409: problem('the first request of this Idempotency-Key is not answered yet', RETRY_AFTER) } : {}),
    ...(isWrite ? { 413: problem('too large'), 415: problem('no JSON') } : {}),
    ...(isKeyed ? { 422: problem('the Idempotency-Key belongs to another request') } : {}),
    429: problem('too many requests', RETRY_AFTER),
    500: problem('our own mistake'),
    503: problem('something is down; it may be tried again', RETRY_AFTER),
  };
  const own = Object.entries(operation.responses as Record<string, object>).map(([status, answer]) => [
    status,
    { ...refusals[status], ...answer, ...headersOf(refusals[status], answer, isKeyed && status === '200') },
  ]);
  return {
    ...operation,
    ...(isKeyed ? { parameters: [...(operation.parameters ?? []), KEY] } : {}),
    responses: { ...refusals, ...Object.fromEntries(own) } as NonNullable<Operation['responses']>,
  };
}

function headersOf(...[refusal, answer, isReplayed]: [object | undefined, object, boolean]): object {
  const of = (one: object | undefined) => (one !== undefined && 'headers' in one ? (one.headers as object) : {});
  const headers = { ...of(refusal), ...of(answer), ...(isReplayed ? REPLAYED : {}) };
  return Object.keys(headers).length === 0 ? {} : { headers };
}

function problem(description: string, headers?: object): object {
  return {
    description,
    ...(headers === undefined ? {} : { headers }),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}
