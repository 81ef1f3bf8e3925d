import { Worker } from 'node:worker_threads';
import { builtFile } from '../package-files.ts';
import { codeOf } from '../problem.ts';

export interface MarkdownOrder {
  readonly html: string;
  /** What links are relative to. */
  readonly base: string;
}

const LIMITS = { maxOldGenerationSizeMb: 512, stackSizeMb: 32 };

/**
 * HTML as Markdown. In a thread that can be ended: a page nested deeply enough keeps any parser busy for minutes, and it is
 * written by strangers. Undefined for what is not done in time, or is too much for the converter.
 */
export async function toMarkdown(
  order: MarkdownOrder,
  timeoutMs: number,
  stopped?: AbortSignal,
): Promise<string | undefined> {
  const thread = new Worker(builtFile('src/execution/markdown-thread.js'), {
    workerData: order,
    resourceLimits: LIMITS,
    execArgv: [],
    env: {},
  });
  const late = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)));
  const deadline = stopped === undefined ? late : AbortSignal.any([late, stopped]);
  try {
    return await new Promise<string | undefined>((resolve, reject) => {
      thread.once('message', (text: string) => resolve(text));
      thread.once('error', (error) => (isOverwhelmed(error) ? resolve(undefined) : reject(error)));
      if (deadline.aborted) resolve(undefined);
      deadline.addEventListener('abort', () => resolve(undefined));
    });
  } finally {
    await thread.terminate();
  }
}

/** Every other way having failed: the text between the tags. Each pattern ends at the next `<`, or the cost were quadratic. */
export function toText(html: string): string {
  return html
    .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
    .replace(/<(script|style|noscript|template)\b[^<>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi, '')
    .replace(/<(?:br|\/?(?:p|div|li|tr|h[1-6]|table|ul|ol|section|article))\b[^<>]*>/gi, '\n')
    .replace(/<[^<>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|nbsp|#39);/g, (_, name: string) => ENTITIES[name] ?? ' ')
    .replace(/[ \t\f]+/g, ' ')
    .replace(/ ?\n[\s]*/g, '\n')
    .trim();
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };

/** What a page can do to a converter: nest deeper than its stack, or fill its memory. Anything else is a bug of ours. */
function isOverwhelmed(error: unknown): boolean {
  return error instanceof RangeError || codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY';
}
