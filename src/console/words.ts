import { nameOf } from '../domain/trust/describe.ts';

export function nameOfTool({ server, tool }: { readonly server: string; readonly tool: string }): string {
  return nameOf({ kind: 'tool', server, name: tool });
}

/** "ESCALATED: 3 failures in 1 h", where whose it is stands above it. */
export function withoutName(because: string, name: string): string {
  const end = because.indexOf(' is ', name.length);
  return because.startsWith(name) && end !== -1 ? because.slice(end + ' is '.length) : because;
}

/** "call approved" by ann, where the record has "approval approved": what was decided is a call, what else happens happens to a question. */
export function whatHappened(what: string): string {
  return what.replace(/^approval (?=approved|denied)/, 'call ').replace(/^approval /, 'question ');
}
