import { createHash } from 'node:crypto';

/** What makes a question the same question: who asks, in which session, to call what with which arguments. */
export interface QuestionIdentity {
  readonly agent: string | undefined;
  readonly session: string | undefined;
  readonly toolKey: string;
  readonly digest: string;
}

export function identityOf({ agent, session, toolKey, digest }: QuestionIdentity): string {
  return createHash('sha256')
    .update(JSON.stringify([agent ?? null, session ?? null, toolKey, digest]))
    .digest('hex')
    .slice(0, 40);
}

export function approvalWorkflowId(identity: string, ordinal: number): string {
  return `approval:${identity}/${ordinal}`;
}
