import type * as z from 'zod';
import type { CalledPath } from '../domain/execution/authorisation.ts';
import type { ErrorCategory, ToolError } from '../domain/execution/errors.ts';
import type { FileRules } from '../domain/files/file-rules.ts';
import type { Rule } from '../domain/rules/rules.schema.ts';
import type { Confinement, Sandbox } from './sandbox.ts';
import type { ExecutionQuestion } from './confirmation.ts';

/** One intended use of a tool. */
export interface ToolCall {
  readonly tool: string;
  readonly server: string;
  readonly args: unknown;
  readonly callId: string;
  readonly agent?: string;
  readonly session?: string;
  /** The sub-agent that calls; absent for the agent itself. */
  readonly caller?: string;
}

/** What a tool would do with its arguments, for the rules. */
export interface Intent {
  readonly command?: string;
  readonly paths: readonly CalledPath[];
  /** What its arguments alone say against it, whoever calls. */
  readonly refusal?: string;
  /** What a person is asked about it, unless the caller is trusted in full. */
  readonly question?: string;
}

export interface RunContext {
  readonly stopped: AbortSignal;
  readonly sandbox: Sandbox;
  readonly confinement: Confinement;
  /** Why a path that the call finds may not be touched; see `FileRules`. */
  readonly unauthorised?: FileRules['unauthorised'] | undefined;
  readonly onOutput?: ((stream: 'stdout' | 'stderr', chunk: Buffer) => void | Promise<void>) | undefined;
}

/** What a tool gave. `value` is for the caller; a failure in it is found by the same detector as everybody's. */
export interface ToolOutput {
  readonly value: unknown;
  readonly truncated: boolean;
  /** Null where there is no process. */
  readonly exitCode: number | null;
  /** For the audit. */
  readonly text: string;
  /** Where the tool itself says why it failed. */
  readonly failure?: { readonly category: ErrorCategory; readonly message: string };
}

/** One of Surety's own tools. */
export interface Tool<Args> {
  readonly name: string;
  readonly description: string;
  readonly risk: Rule['risk'];
  /** Whether running it twice does no more than running it once. */
  readonly retryable: boolean;
  readonly schema: z.ZodType<Args>;
  readonly intent: (args: Args) => Intent;
  readonly run: (args: Args, context: RunContext) => Promise<ToolOutput>;
}

/** A tool with arguments that fit it. */
export interface ClaimedCall {
  readonly name: string;
  readonly risk: Rule['risk'];
  readonly retryable: boolean;
  readonly args: unknown;
  readonly intent: Intent;
  readonly run: (context: RunContext) => Promise<ToolOutput>;
}

export type Claim =
  | { readonly kind: 'claimed'; readonly call: ClaimedCall }
  | { readonly kind: 'invalid'; readonly category: 'invalid_parameters' | 'type_mismatch'; readonly because: string };

/** Says whether a call is its own: undefined leaves it to the next one, anything else, also a thrown error, ends the search. */
export interface Executor {
  readonly tools: readonly ToolDescription[];
  claim(call: ToolCall): Claim | undefined;
}

export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly risk: Rule['risk'];
  readonly retryable: boolean;
  /** JSON Schema of the arguments. */
  readonly input: unknown;
}

/** The stages of a call, in their order. */
export type Stage = 'kill_switch' | 'claim' | 'authorisation' | 'policy' | 'quota' | 'trust' | 'run' | 'audit';

/** Why a stage stops a call. */
export interface Refusal {
  readonly stage: Stage;
  readonly category: ErrorCategory;
  /** A finer word than the category, where there is one. */
  readonly code?: 'quota_blocked';
  readonly because: string;
  /** Epoch milliseconds after which asking again may be answered otherwise. */
  readonly retryAt?: number;
}

export type Executed =
  | { readonly status: 'done'; readonly callId: string; readonly output: ToolOutput; readonly attempts: number }
  | {
      readonly status: 'failed';
      readonly callId: string;
      readonly error: ToolError;
      readonly output: ToolOutput | undefined;
      readonly attempts: number;
    }
  | { readonly status: 'refused'; readonly callId: string; readonly error: ToolError; readonly refusal: Refusal }
  | {
      readonly status: 'ask';
      readonly callId: string;
      readonly error: ToolError;
      readonly question: ExecutionQuestion;
    };
