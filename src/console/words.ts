import { nameOf } from '../domain/trust/describe.ts';

export function nameOfTool({ server, tool }: { readonly server: string; readonly tool: string }): string {
  return nameOf({ kind: 'tool', server, name: tool });
}
