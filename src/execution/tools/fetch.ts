import * as z from 'zod';
import { readTarget } from '../../domain/network/target.ts';
import type { Tool } from '../call.ts';
import { fetchPage } from '../fetch.ts';
import type { FetchOptions } from '../fetch.ts';
import { reasonOf } from '../../problem.ts';
import { OutboundRefused, OutboundUnusable } from '../outbound.ts';

const FetchArguments = z.strictObject({
  url: z
    .string()
    .min(1, 'there is no URL')
    .max(8192)
    .refine((url) => url === '' || URL.canParse(url), {
      error: ({ input }) => `${String(input).slice(0, 100)} is no URL: one begins with https://`,
    }),
});

/** Fetches a page. Asking for it twice does no more than once, as far as HTTP says. */
export function fetchTool(options: FetchOptions = {}): Tool<z.infer<typeof FetchArguments>> {
  return {
    name: 'fetch',
    description: 'Fetch a page from a public address, as Markdown.',
    risk: 'read',
    retryable: true,
    schema: FetchArguments,
    // Where a name leads is known, and judged, once it is resolved.
    intent: ({ url }) => {
      const target = readTarget(url, options);
      return { paths: [], ...(target.ok ? {} : { refusal: target.because }) };
    },
    run: async ({ url }, { stopped }) => {
      try {
        const page = await fetchPage(url, { ...options, stopped });
        return { value: page, truncated: page.truncated, exitCode: null, text: page.content };
      } catch (error) {
        const category = stopped.aborted
          ? 'cancelled'
          : error instanceof OutboundRefused
            ? 'policy_blocked'
            : error instanceof OutboundUnusable
              ? 'permanent_failure'
              : undefined;
        if (category === undefined) throw error;
        const message = stopped.aborted ? 'it was stopped before its end' : reasonOf(error);
        const failure = { category, message } as const;
        return { value: undefined, truncated: false, exitCode: null, text: '', failure };
      }
    },
  };
}
