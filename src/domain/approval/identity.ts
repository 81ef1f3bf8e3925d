import { createHash } from 'node:crypto';

/**
 * What makes a question the same question: who asks, in which session, to call what with which arguments. Another definition
 * is another tool.
 */
export interface QuestionIdentity {
  readonly agent: string | undefined;
  readonly session: string | undefined;
  readonly toolKey: string;
  readonly digest: string;
  readonly definition: string | undefined;
}

export function identityOf({ agent, session, toolKey, digest, definition }: QuestionIdentity): string {
  const parts = [agent ?? null, session ?? null, toolKey, digest];
  return createHash('sha256')
    .update(JSON.stringify(definition === undefined ? parts : [...parts, definition]))
    .digest('hex')
    .slice(0, 40);
}

export function approvalWorkflowId(identity: string, ordinal: number): string {
  return `approval:${identity}/${ordinal}`;
}
