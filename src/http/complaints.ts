import type { z } from '@hono/zod-openapi';

interface Complaint {
  readonly path: string;
  readonly message: string;
}

/** What is wrong, and where. Of something that may be one of several kinds: what is wrong with it as each of them. */
export function complaintsOf(issues: readonly z.core.$ZodIssue[], within: readonly PropertyKey[] = []): Complaint[] {
  return issues.flatMap((issue) => {
    const path = [...within, ...issue.path];
    if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      return issue.errors.flatMap((kind) => complaintsOf(kind, path));
    }
    return [{ path: path.map(String).join('.'), message: issue.message }];
  });
}
