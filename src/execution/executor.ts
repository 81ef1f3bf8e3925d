import * as z from 'zod';
import { LOCAL } from '../domain/trust/entry.ts';
import type { Claim, Executor, Tool, ToolCall } from './call.ts';

/** An executor for some tools of this installation: a tool that another server calls the same is another tool, with a trust of its own. */
export function executorOf<Args>(...tools: readonly Tool<Args>[]): Executor {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    tools: tools.map(({ name, description, risk, retryable, schema }) => ({
      ...{ name, description, risk, retryable },
      input: z.toJSONSchema(schema, { io: 'input' }),
    })),
    claim: ({ server, tool: name, args }) => {
      const tool = server === LOCAL ? byName.get(name) : undefined;
      return tool === undefined ? undefined : claimed(tool, args);
    },
  };
}

/** The first that claims a call has it, whatever it makes of it. */
export function firstOf(executors: readonly Executor[]): Executor {
  return {
    tools: executors.flatMap(({ tools }) => tools),
    claim: (call: ToolCall) => {
      for (const executor of executors) {
        const claim = executor.claim(call);
        if (claim !== undefined) return claim;
      }
      return undefined;
    },
  };
}

/** Of a complaint about arguments: whoever sends thousands of wrong ones is not told of each. */
const MOST_WORDS = 2000;

function claimed<Args>(tool: Tool<Args>, given: unknown): Claim {
  const parsed = tool.schema.safeParse(given ?? {});
  if (!parsed.success) {
    const because = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`);
    const isOfOtherType = parsed.error.issues.every(
      ({ code, path }) => code === 'invalid_type' && valueAt(given, path) !== undefined,
    );
    const category = isOfOtherType ? 'type_mismatch' : 'invalid_parameters';
    return { kind: 'invalid', category, because: because.join('; ').slice(0, MOST_WORDS) };
  }
  const args = parsed.data;
  const { name, risk, retryable } = tool;
  const intent = tool.intent(args);
  return { kind: 'claimed', call: { name, risk, retryable, args, intent, run: (context) => tool.run(args, context) } };
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (held, key) => (typeof held === 'object' && held !== null ? Reflect.get(held, key) : undefined),
    value,
  );
}
