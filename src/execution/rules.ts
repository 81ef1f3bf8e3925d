import { PolicyHolder } from '../domain/policy/holder.ts';
import type { Rules } from '../domain/rules/rules.schema.ts';
import { openSandbox } from './files/sandbox.ts';
import type { FileSandbox, OwnFiles } from './files/sandbox.ts';

/** What the stages are decided by: the sections of surety.json that are about execution, made ready. */
export interface ExecutionRules extends Pick<
  Rules,
  'authorization' | 'retry' | 'runner' | 'maxToolCallsPerSession' | 'quotaWindowSecs'
> {
  readonly shell: PolicyHolder;
  readonly files: FileSandbox;
}

export async function executionRules(rules: Rules, project: string, own?: OwnFiles): Promise<ExecutionRules> {
  const { authorization, retry, runner, maxToolCallsPerSession, quotaWindowSecs } = rules;
  return {
    ...{ authorization, retry, runner, maxToolCallsPerSession, quotaWindowSecs },
    shell: new PolicyHolder(rules.shell),
    files: await openSandbox(rules.file, project, own === undefined ? {} : { own }),
  };
}
