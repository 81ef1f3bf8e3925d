import { nameOf } from '../domain/trust/describe.ts';

export function nameOfTool({ server, tool }: { readonly server: string; readonly tool: string }): string {
  return nameOf({ kind: 'tool', server, name: tool });
}

/** "ESCALATED: 3 failures in 1 h", where whose it is stands above it. */
export function withoutName(because: string, name: string): string {
  const end = because.indexOf(' is ', name.length);
  return because.startsWith(name) && end !== -1 ? because.slice(end + ' is '.length) : because;
}
