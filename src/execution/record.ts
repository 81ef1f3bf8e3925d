import { access, constants, mkdir, statfs } from 'node:fs/promises';
import { openCopy } from '../domain/outcome/plain.ts';
import type { AuditEntry } from '../domain/audit/entry.schema.ts';
import type { ToolError } from '../domain/execution/errors.ts';
import { AuditFailed } from './audit/audit.ts';
import type { Audit } from './audit/audit.ts';
import type { Stage, ToolCall, ToolOutput } from './call.ts';

/** What is known of a call when it is over. */
export interface Ended {
  /** As it ran, or would have. */
  readonly call: ToolCall;
  /** As it was made, where a person has changed its arguments since. */
  readonly original: ToolCall | undefined;
  readonly command: string | undefined;
  readonly output: ToolOutput | undefined;
  readonly error: ToolError | undefined;
  /** The stage that ended it. */
  readonly stage: Stage;
  readonly durationMs: number;
  readonly trust: string;
  /** The person who has said yes, whatever became of it then. */
  readonly approvedBy: string | undefined;
  /** Whether it was let run to see if its tool works again. */
  readonly isProbe: boolean;
}

const ROOM_BYTES = 1 << 20;
const MOST_OUTPUT = 8192;

/** Before anything runs: a call whose line could not be written is not begun. */
export async function requireAudit(audit: Audit): Promise<void> {
  const { directory } = audit;
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await access(directory, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(directory);
    if (bavail * bsize < ROOM_BYTES) throw new Error('there is no room for a line');
  } catch (error) {
    throw new AuditFailed(directory, error);
  }
  await audit.ready();
}

export function entryOf({
  call,
  original,
  command,
  output,
  error,
  stage,
  durationMs,
  trust,
  approvedBy,
  isProbe,
}: Ended): AuditEntry {
  const common = {
    ts: new Date().toISOString(),
    tool: call.tool,
    server: call.server,
    call_id: call.callId,
    ...(call.agent === undefined ? {} : { agent: call.agent }),
    ...(call.session === undefined ? {} : { session: call.session }),
    ...(call.caller === undefined ? {} : { caller_id: call.caller }),
    ...(command === undefined ? {} : { command: command.slice(0, 100_000) }),
    arguments: asJson(call.args),
    ...(original === undefined ? {} : { edited_from: asJson(original.args) }),
    ...(output === undefined ? {} : { output: beginningAndEnd(output.text) }),
    duration_ms: Math.round(durationMs),
    truncated: output?.truncated ?? false,
    trust,
    approved_by: approvedBy ?? (isProbe ? 'probe' : 'auto'),
  };
  const exit_code = output?.exitCode ?? null;
  if (error === undefined) return { ...common, result: 'success', exit_code: exit_code === 0 ? 0 : null };
  const failure = { error_category: error.category, error_phase: stage, because: error.message };
  // What another machine refuses has run.
  if (stage !== 'run') {
    return { ...common, ...failure, approved_by: approvedBy ?? null, result: 'blocked', exit_code: null };
  }
  const result = error.category === 'timeout' || error.category === 'cancelled' ? error.category : 'error';
  return { ...common, ...failure, result, exit_code };
}

/**
 * JSON, whatever was given. Its secrets are still in it: the audit, which removes them before it writes, has to know them to find
 * them in the other fields. Of a text somewhat more than is kept, so that what stands where it is cut can be known.
 */
function asJson(args: unknown): AuditEntry['arguments'] {
  return openCopy(args, { depth: 8, nodes: 500, characters: 8192 });
}

function beginningAndEnd(text: string): string {
  if (text.length <= MOST_OUTPUT) return text;
  return `${text.slice(0, MOST_OUTPUT / 2)}\n[…]\n${text.slice(-MOST_OUTPUT / 2)}`;
}
