import { createHash } from 'node:crypto';
import { folded } from './person.ts';

/**
 * What makes a question the same question: who asks, in which session, to call what with which arguments. Another definition
 * is another tool. Another owner is somebody else who must not decide: two who ask for one agent each have their own question.
 */
export interface QuestionIdentity {
  readonly agent: string | undefined;
  readonly owner?: string | undefined;
  readonly session: string | undefined;
  readonly toolKey: string;
  readonly digest: string;
  readonly definition: string | undefined;
}

export function identityOf({ agent, owner, session, toolKey, digest, definition }: QuestionIdentity): string {
  const asker = owner === undefined ? (agent ?? null) : { agent: agent ?? null, owner: folded(owner) };
  const parts = [asker, session ?? null, toolKey, digest];
  return createHash('sha256')
    .update(JSON.stringify(definition === undefined ? parts : [...parts, definition]))
    .digest('hex')
    .slice(0, 40);
}

export function approvalWorkflowId(identity: string, ordinal: number): string {
  return `approval:${identity}/${ordinal}`;
}
