import { lookup } from 'node:dns';
import { request as requestHttp } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { codeOf } from '../problem.ts';
import { readTarget, refusalOf } from '../domain/network/target.ts';

export interface Address {
  readonly address: string;
  readonly family: number;
}

export interface OutboundOptions {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Everything together: resolving, connecting, waiting and reading. */
  readonly timeoutMs: number;
  /** Of the answer, after decompression. What is beyond is not read. */
  readonly mostBytes: number;
  /** After so long with it the answer is what has come of it: for whoever wants to know that there is one. */
  readonly bodyWithinMs?: number;
  /** For a target that an operator trusts: also loopback and private addresses. */
  readonly allowPrivate?: boolean;
  /** For whoever has to leave before the answer is there. */
  readonly stopped?: AbortSignal;
  readonly resolve?: (host: string) => Promise<readonly Address[]>;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** There was more than `mostBytes`. */
  readonly truncated: boolean;
}

/** The target is nowhere we go: said before anything is sent. */
export class OutboundRefused extends Error {
  override readonly name = 'OutboundRefused';
}

/** It was tried, and there was no answer, or none that could be read. */
export class OutboundFailed extends Error {
  override readonly name: string = 'OutboundFailed';
}

/** There was an answer that is of no use, and the next one will be like it. */
export class OutboundUnusable extends OutboundFailed {
  override readonly name = 'OutboundUnusable';
}

/**
 * One request to a URL that somebody else chose. The addresses that a name resolves to are judged, and those very
 * addresses are connected to: a name that resolves to another one a moment later gains nothing. Redirects are answers
 * like any other; whoever follows one comes back here. One connection per request, so none is shared between targets.
 */
export async function outbound(target: string, options: OutboundOptions): Promise<Answer> {
  const read = readTarget(target, options);
  if (!read.ok) throw new OutboundRefused(read.because);
  const deadline = AbortSignal.timeout(Math.ceil(options.timeoutMs));
  const end = options.stopped === undefined ? deadline : AbortSignal.any([deadline, options.stopped]);
  try {
    const response = await send(read.url, options, end);
    return await answerOf(response, options, end);
  } catch (error) {
    if (error instanceof OutboundRefused || error instanceof OutboundUnusable) throw error;
    if (deadline.aborted) {
      throw new OutboundFailed(`${read.url.host} did not finish within ${Math.ceil(options.timeoutMs)} ms`, {
        // By its name whoever reads the failure knows that it was the time, whatever was under way.
        cause: deadline.reason,
      });
    }
    const isBroken = /^(?:Z_|ERR__ERROR_FORMAT|ERR_PADDING)/.test(String(codeOf(error)));
    throw new (isBroken ? OutboundUnusable : OutboundFailed)(wordsOf(error), { cause: error });
  }
}

/** Judges a target without going there: what `outbound` would refuse is refused. */
export async function requireTarget(target: string, options: Pick<OutboundOptions, 'allowPrivate' | 'resolve'> = {}) {
  const read = readTarget(target, options);
  if (!read.ok) throw new OutboundRefused(read.because);
  if (read.address !== undefined) return;
  await judged(read.url.hostname, options).catch((error: unknown) => {
    throw error instanceof OutboundRefused ? error : new OutboundFailed(wordsOf(error), { cause: error });
  });
}

function send(url: URL, options: OutboundOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const { method = 'GET', headers = {}, body } = options;
  const how: RequestOptions = {
    method,
    signal,
    agent: false,
    lookup: guardedLookup(options),
    headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
  };
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestHttps(url, how) : requestHttp(url, how);
    request.once('response', resolve).on('error', reject).end(body);
  });
}

/** In the place of the system's own, so that there is no second resolution between judging and connecting. */
function guardedLookup(options: OutboundOptions): LookupFunction {
  return (host, { all = false }, done) => {
    judged(host, options).then(
      (addresses) => {
        const [first] = addresses;
        if (all) done(null, [...addresses]);
        else done(null, first?.address ?? '', first?.family);
      },
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error)), ''),
    );
  };
}

/** One bad address among good ones is enough to refuse: it is not by chance that it is there. */
async function judged(
  host: string,
  { allowPrivate = false, resolve = resolveByDns }: Pick<OutboundOptions, 'allowPrivate' | 'resolve'>,
): Promise<readonly Address[]> {
  const addresses = await resolve(host);
  if (addresses.length === 0) throw new OutboundFailed(`${host} has no address`);
  for (const { address } of allowPrivate ? [] : addresses) {
    const because = refusalOf(address);
    if (because !== undefined) throw new OutboundRefused(`${host} leads to ${address}: ${because}`);
  }
  return addresses;
}

function resolveByDns(host: string): Promise<readonly Address[]> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true, verbatim: true }, (error, found) => (error === null ? resolve(found) : reject(error)));
  });
}

const DECODERS = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress };

async function answerOf(response: IncomingMessage, options: OutboundOptions, signal: AbortSignal): Promise<Answer> {
  const { statusCode: status = 0, headers } = response;
  const { body, truncated } = await readUpTo(decoded(response), options, signal);
  response.destroy();
  return { status, headers, body, truncated };
}

/** Decompressed here, because the limit is on what comes out: a small answer may unpack to gigabytes. */
function decoded(response: IncomingMessage): Readable {
  const coding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity' || coding === '') return response;
  const known = Object.entries(DECODERS).find(([name]) => name === coding);
  if (known === undefined) throw new OutboundUnusable(`the answer is encoded as ${JSON.stringify(coding)}`);
  const decoder = known[1]();
  // Errors arrive at whoever reads the decoder.
  pipeline(response, decoder, () => undefined);
  return decoder;
}

async function readUpTo(stream: Readable, { mostBytes: most, bodyWithinMs }: OutboundOptions, signal: AbortSignal) {
  const chunks: Buffer[] = [];
  let [length, isEnough] = [0, false];
  // By its name whoever reads the failure knows that it was the time.
  const stop = () => stream.destroy(signal.reason instanceof Error ? signal.reason : new Error('out of time'));
  const patience =
    bodyWithinMs === undefined
      ? undefined
      : setTimeout(() => {
          isEnough = true;
          stop();
        }, bodyWithinMs);
  signal.addEventListener('abort', stop);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, most - length));
      length += chunk.length;
      if (length > most) break;
    }
  } catch (error) {
    if (!isEnough) throw error;
  } finally {
    clearTimeout(patience);
    signal.removeEventListener('abort', stop);
  }
  return { body: Buffer.concat(chunks), truncated: isEnough || length > most };
}

/** Node says nothing where several addresses failed alike. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(wordsOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
