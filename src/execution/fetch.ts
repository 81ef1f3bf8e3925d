import { version } from '../version.ts';
import { decodeText, looksBinary } from './charset.ts';
import { toMarkdown, toText } from './markdown.ts';
import { outbound, OutboundFailed, OutboundRefused, OutboundUnusable } from './outbound.ts';
import type { Answer, OutboundOptions } from './outbound.ts';

export interface FetchOptions extends Pick<OutboundOptions, 'resolve' | 'stopped'> {
  /** The host that is named may be private; what it redirects to may not. */
  readonly allowPrivate?: boolean;
  /** For everything together: redirects, reading, and turning it into Markdown. */
  readonly timeoutMs?: number;
  /** Of each answer, unpacked. */
  readonly mostBytes?: number;
  /** Of what is handed back. */
  readonly mostCharacters?: number;
  readonly mostRedirects?: number;
}

export interface Fetched {
  /** Where it was in the end. */
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly format: 'markdown' | 'text' | 'binary';
  /** For what is no text, a sentence that says so. */
  readonly content: string;
  /** There is more of it than is here. */
  readonly truncated: boolean;
  readonly redirects: readonly string[];
}

const DEFAULTS = { timeoutMs: 20_000, mostBytes: 5_000_000, mostCharacters: 200_000, mostRedirects: 5 };
const HEADERS = {
  accept: 'text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5',
  'accept-encoding': 'gzip, deflate, br',
  'user-agent': `surety/${version()}`,
};
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches a page for an agent, as text that it can read. Each redirect is a target like the first, and judged like it. Throws
 * OutboundRefused for what is nowhere to go and OutboundFailed for what did not answer; an answer of any status is an answer.
 */
export async function fetchPage(target: string, options: FetchOptions = {}): Promise<Fetched> {
  const limits = { ...DEFAULTS, ...options };
  // Not by the clock: one that is set back would make it endless.
  const deadline = performance.now() + limits.timeoutMs;
  const redirects: string[] = [];
  for (let url = target; ;) {
    const allowPrivate = limits.allowPrivate === true && isSameHost(url, target);
    const answer = await hop(url, redirects, {
      ...limits,
      allowPrivate,
      timeoutMs: Math.max(1, deadline - performance.now()),
    });
    const next = redirectOf(answer, url);
    if (next === undefined) return { ...(await readAs(answer, url, limits, deadline)), redirects };
    redirects.push(url);
    if (redirects.length > limits.mostRedirects) {
      throw new OutboundUnusable(`${target} redirects more than ${limits.mostRedirects} times`);
    }
    url = next;
  }
}

async function hop(url: string, before: readonly string[], limits: OutboundOptions): Promise<Answer> {
  const { timeoutMs, mostBytes, allowPrivate = false, resolve, stopped } = limits;
  try {
    return await outbound(url, {
      ...{ headers: HEADERS, timeoutMs, mostBytes, allowPrivate },
      ...(resolve === undefined ? {} : { resolve }),
      ...(stopped === undefined ? {} : { stopped }),
    });
  } catch (error) {
    if (before.length === 0 || !(error instanceof OutboundRefused)) throw error;
    throw new OutboundRefused(`${before.at(-1) ?? ''} redirects to ${url}: ${error.message}`, { cause: error });
  }
}

/** Whoever trusts a private target trusts that one, not wherever it sends us. */
function isSameHost(url: string, target: string): boolean {
  return URL.canParse(target) && new URL(url).host === new URL(target).host;
}

function redirectOf({ status, headers }: Answer, url: string): string | undefined {
  const { location } = headers;
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  if (!URL.canParse(location, url)) throw new OutboundUnusable(`${url} redirects to what is no URL`);
  return new URL(location, url).href;
}

type Read = Omit<Fetched, 'redirects'>;

async function readAs(
  { status, headers, body, truncated }: Answer,
  url: string,
  { mostCharacters, stopped }: { readonly mostCharacters: number; readonly stopped?: AbortSignal },
  deadline: number,
): Promise<Read> {
  const contentType = headers['content-type'] ?? '';
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const base = { url, status, contentType };
  if (!isText(type) || looksBinary(body, contentType)) {
    const size = `${truncated ? 'more than ' : ''}${body.length} bytes`;
    return { ...base, format: 'binary', content: `${type || 'something'}, ${size}: no text`, truncated: false };
  }
  const text = decodeText(body, contentType);
  if (!isHtml(type, text)) return { ...base, format: 'text', ...upTo(text, mostCharacters, truncated) };
  const markdown = await toMarkdown({ html: text, base: url }, deadline - performance.now(), stopped);
  if (stopped?.aborted === true) throw new OutboundFailed('it was stopped before its end');
  if (markdown === undefined) return { ...base, format: 'text', ...upTo(toText(text), mostCharacters, truncated) };
  return { ...base, format: 'markdown', ...upTo(markdown, mostCharacters, truncated) };
}

/** What has no type at all is looked at. */
function isText(type: string): boolean {
  return type === '' || /^text\/|^application\/(?:.+\+)?(?:json|xml|yaml|javascript|x-ndjson|toml)$/.test(type);
}

function isHtml(type: string, text: string): boolean {
  if (type === 'text/html' || type === 'application/xhtml+xml') return true;
  return type === '' && /^\s*(?:<!doctype html|<html|<head|<body)/i.test(text.slice(0, 1000));
}

function upTo(text: string, most: number, truncated: boolean): { content: string; truncated: boolean } {
  if (text.length <= most) return { content: text, truncated };
  // Not between the two halves of a surrogate pair.
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(most - 1));
  return { content: text.slice(0, isHalf ? most - 1 : most), truncated: true };
}
