import type { ToolError } from '../domain/execution/errors.ts';

/** For the gate's report. What a policy or a person stopped is said so that it is not held against the tool. */
export class ToolFailed extends Error {
  override readonly name = 'ToolFailed';
  constructor({ category, message }: ToolError, cause: unknown) {
    const isRefusal = category === 'policy_blocked' || category === 'confirmation_required';
    super(
      isRefusal
        ? `refused by policy: ${message}`
        : category === 'cancelled'
          ? `cancelled by the operator: ${message}`
          : message,
      cause === undefined ? {} : { cause },
    );
  }
}
