import { errorOf, toolError } from '../domain/execution/errors.ts';
import type { ToolError } from '../domain/execution/errors.ts';
import { pause } from '../pause.ts';
import { KillSwitchThrown } from './kill-switch-thrown.ts';
import type { ClaimedCall, RunContext, Stage, ToolOutput } from './call.ts';
import { withRetries } from './retry.ts';
import { refusedByKillSwitch } from './stages.ts';
import type { Controls } from './stages.ts';
import type { Terms } from './terms.ts';

export interface Ran {
  readonly output: ToolOutput | undefined;
  readonly error: ToolError | undefined;
  readonly attempts: number;
  /** What was thrown. */
  readonly cause: unknown;
  readonly stage: Stage;
}

const LOOK_AGAIN_MS = 500;
const NEVER_BEGUN = { output: undefined, attempts: 0, cause: undefined, stage: 'run' } as const;

/** Of a call whose caller has gone before anything ran. */
export const STOPPED_BEFORE: Ran = {
  ...NEVER_BEGUN,
  error: toolError('cancelled', 'it was stopped before it began'),
};

/** Runs a call that has passed every check. It may have waited long for that: the kill switch is looked at again, and on. */
export async function runClaimed(
  { rules, sandbox, confinement }: Terms,
  controls: Controls | undefined,
  call: ClaimedCall,
  {
    stopped,
    onOutput,
    unauthorised,
  }: { readonly stopped?: AbortSignal } & Pick<RunContext, 'onOutput' | 'unauthorised'>,
): Promise<Ran> {
  const before = await refusedByKillSwitch(controls);
  if (before !== undefined) {
    const error = toolError('policy_blocked', before.because);
    return { ...NEVER_BEGUN, error, stage: 'kill_switch' };
  }
  if (stopped?.aborted === true) return STOPPED_BEFORE;
  const watch = watchKillSwitch(controls);
  const context: RunContext = {
    ...{ sandbox, confinement },
    stopped: stopped === undefined ? watch.thrown : AbortSignal.any([stopped, watch.thrown]),
    ...{ onOutput, unauthorised },
  };
  try {
    const { result, attempts } = await withRetries(() => attempt(call, context), {
      terms: rules.retry,
      retryable: call.retryable,
      failureOf: ({ error }) => error?.category,
      stopped: context.stopped,
    });
    const why: unknown = watch.thrown.aborted ? watch.thrown.reason : undefined;
    const error =
      result.error?.category === 'cancelled' && why instanceof KillSwitchThrown
        ? toolError('cancelled', why.message)
        : result.error;
    return { ...result, error, attempts, stage: isRefusal(result.output) ? 'policy' : 'run' };
  } finally {
    watch.stop();
  }
}

/** What a tool may not do can come to light only while it runs: a name leads to an address once it is resolved. */
function isRefusal(output: ToolOutput | undefined): boolean {
  return output?.failure?.category === 'policy_blocked' && output.exitCode === null;
}

async function attempt(call: ClaimedCall, context: RunContext): Promise<Pick<Ran, 'output' | 'error' | 'cause'>> {
  try {
    const output = wellFormed(await call.run(context));
    const { failure } = output;
    const error =
      failure === undefined
        ? errorOf({ tool: call.name, args: call.args, result: resultOf(output) })
        : toolError(failure.category, failure.message);
    return { output, error, cause: undefined };
  } catch (cause) {
    const error = errorOf({ tool: call.name, args: call.args, error: cause });
    return { output: undefined, error, cause };
  }
}

/** Of a tool that somebody else wrote: what it gives has a line, whatever it is. */
function wellFormed(output: Partial<ToolOutput> | undefined): ToolOutput {
  const { text, exitCode, truncated } = output ?? {};
  const isExit = exitCode === null || Number.isInteger(exitCode);
  if (typeof text === 'string' && isExit && typeof truncated === 'boolean') return output as ToolOutput;
  const message = 'the tool gave no output with text, exitCode and truncated';
  return {
    value: undefined,
    truncated: false,
    exitCode: null,
    text: '',
    failure: { category: 'permanent_failure', message },
  };
}

/** A process that failed has failed, also where the tool returns something else than its envelope. */
function resultOf({ value, exitCode, text }: ToolOutput): unknown {
  if (exitCode === null || exitCode === 0) return value;
  return { stderr: text, ...(typeof value === 'object' ? value : {}), exitCode };
}

/** Ends what runs when the switch is thrown; one that cannot be read for a moment ends nothing that has begun. */
function watchKillSwitch(controls: Controls | undefined): { readonly thrown: AbortSignal; readonly stop: () => void } {
  const thrown = new AbortController();
  const over = new AbortController();
  const look = async () => {
    for (;;) {
      await pause(LOOK_AGAIN_MS, over.signal);
      if (over.signal.aborted || controls === undefined) return;
      const state = await controls.killSwitch().catch(() => undefined);
      if (state?.isOn === true) {
        thrown.abort(new KillSwitchThrown(`the kill switch was thrown by ${state.by}: ${state.reason}`));
        return;
      }
    }
  };
  void look();
  return { thrown: thrown.signal, stop: () => over.abort() };
}
