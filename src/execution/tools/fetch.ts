import { z } from 'zod';
import type { Tool } from '../call.ts';
import { fetchPage } from '../fetch.ts';
import type { FetchOptions } from '../fetch.ts';
import { OutboundRefused } from '../outbound.ts';

const FetchArguments = z.strictObject({ url: z.string().min(1).max(8192) });

/** Fetches a page. Asking for it twice does no more than once, as far as HTTP says. */
export function fetchTool(options: FetchOptions = {}): Tool<z.infer<typeof FetchArguments>> {
  return {
    name: 'fetch',
    description: 'Fetch a page from a public address, as Markdown.',
    risk: 'read',
    retryable: true,
    schema: FetchArguments,
    intent: () => ({ paths: [] }),
    run: async ({ url }) => {
      try {
        const page = await fetchPage(url, options);
        return { value: page, truncated: page.truncated, exitCode: null, text: page.content };
      } catch (error) {
        if (!(error instanceof OutboundRefused)) throw error;
        const failure = { category: 'policy_blocked', message: error.message } as const;
        return { value: undefined, truncated: false, exitCode: null, text: '', failure };
      }
    },
  };
}
