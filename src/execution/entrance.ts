import { LOCAL } from '../domain/trust/entry.ts';
import { Id, LONGEST_ID } from '../domain/outcome/id.schema.ts';
import { newOutcomeId } from '../postgres/outcome-id.ts';
import { reasonOf } from '../problem.ts';
import type { ToolCall } from './call.ts';

/** A call as its maker gives it. */
export type CallRequest = Omit<ToolCall, 'server' | 'callId'> & Partial<Pick<ToolCall, 'server' | 'callId'>>;

/** A call that nobody can change any more, and what is wrong with how it was given. */
export interface Entered {
  readonly call: ToolCall;
  readonly flaw: string | undefined;
}

/**
 * Reads a request once and keeps a copy: what is checked, asked about, run and written down is that copy. A getter, a proxy
 * or a `toJSON` that answers otherwise the next time is not asked a next time.
 */
export function enter(request: CallRequest): Entered {
  const flaws: string[] = [];
  const text = (name: string, value: unknown): string | undefined => {
    if (value === undefined) return undefined;
    const given = typeof value === 'string' ? unicode(value) : undefined;
    if (Id.safeParse(given).success) return given;
    flaws.push(`${name}: expected text of 1 to ${LONGEST_ID} characters, none of them a control character`);
    return given === undefined ? undefined : shownInstead(given);
  };
  const { tool, server, callId, args, ...who } = request;
  const [agent, session, caller] = [text('agent', who.agent), text('session', who.session), text('caller', who.caller)];
  const call: ToolCall = {
    tool: text('tool', tool) ?? '(none)',
    server: text('server', server) ?? LOCAL,
    callId: text('callId', callId) ?? newOutcomeId(),
    args: copied(args, flaws),
    ...(agent === undefined ? {} : { agent }),
    ...(session === undefined ? {} : { session }),
    ...(caller === undefined ? {} : { caller }),
  };
  return { call: Object.freeze(call), flaw: flaws.length === 0 ? undefined : flaws.join('; ') };
}

/** For the line that says what was wrong with it. */
function shownInstead(text: string): string {
  return text.slice(0, LONGEST_ID).replace(/\p{Cc}/gu, '\ufffd') || '(none)';
}

/** As JSON has it, frozen. Half a surrogate pair would be judged as one text and run as another. */
function copied(args: unknown, flaws: string[]): unknown {
  try {
    const text = JSON.stringify(args) as string | undefined;
    return text === undefined ? undefined : deepFrozen(JSON.parse(text, wellFormed));
  } catch (error) {
    flaws.push(`arguments: they are no JSON: ${reasonOf(error)}`);
    return undefined;
  }
}

function wellFormed(_: string, value: unknown): unknown {
  return typeof value === 'string' ? unicode(value) : value;
}

function unicode(text: string): string {
  return Buffer.from(text).toString();
}

function deepFrozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const each of Object.values(value)) deepFrozen(each);
  return Object.freeze(value);
}
