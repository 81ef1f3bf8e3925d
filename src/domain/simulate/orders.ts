import { matchesGlob } from '../key/glob.ts';
import { normaliseScope, scopeOf } from '../key/scope.ts';
import { serverOf } from '../key/tool-key.ts';
import { LOCAL } from '../trust/entry.ts';
import type { OrderName } from '../trust/event.ts';
import type { Subject } from '../trust/parts.ts';
import type { Book, Touched } from './book.ts';
import type { Named, OrderEvent, OrderTarget } from './events.schema.ts';

/** An order goes to everything it names; a tool or server that is named outright need not have been seen yet. */
export function giveOrder(book: Book, event: OrderEvent, atMs: number): readonly Touched[] {
  const [name, target] = nameAndTarget(event);
  const { by = 'simulation', reason = '' } = event;
  const scope = scopeNamed(target);
  const entry = {
    kind: name,
    seq: 0,
    at: atMs,
    receivedAt: atMs,
    by,
    reason,
    ...(scope === undefined ? {} : { scope }),
  };
  const matching = [...book.pages()].map(({ subject }) => subject).filter((subject) => isNamed(subject, target));
  const named = matching.length > 0 ? matching : outright(target);
  return named.map((subject) => book.order(subject, entry));
}

/** What an order says beside its name counts like what it says in it. */
function nameAndTarget(event: OrderEvent): [OrderName, Named] {
  const [name, target]: [OrderName, OrderTarget] =
    'reset' in event
      ? ['reset', event.reset]
      : 'recover' in event
        ? ['recover', event.recover]
        : ['block', event.block];
  const { tool, server, args, scope } = event;
  const beside = { tool, server, args, scope };
  if (typeof target === 'object') return [name, { ...beside, ...target }];
  return [name, { ...beside, tool: target === true ? (tool ?? '*') : target }];
}

function scopeNamed({ tool, args, scope }: Named): string | undefined {
  if (scope !== undefined) return normaliseScope(scope);
  return tool === undefined ? undefined : scopeOf(tool, args);
}

function isNamed(subject: Subject, { tool, server, args }: Named): boolean {
  const given = serverNamed({ server, args });
  if (given !== undefined && subject.server !== given) return false;
  if (tool !== undefined) return matchesSubject(tool, subject);
  return given === undefined || subject.kind === 'server';
}

function outright({ tool, server, args }: Named): readonly Subject[] {
  const given = serverNamed({ server, args });
  if (tool !== undefined) {
    return /[*?]/.test(tool) ? [] : [{ kind: 'tool', server: given ?? LOCAL, name: tool }];
  }
  return given === undefined ? [] : [{ kind: 'server', server: given, name: '' }];
}

function serverNamed(named: Pick<Named, 'server' | 'args'>): string | undefined {
  const server = serverOf(named);
  return server === LOCAL && named.server === undefined ? undefined : server;
}

/** The call an order speaks of, where it speaks of one. */
export function callOfOrder(event: OrderEvent): { tool: string; server: string; scope?: string } | undefined {
  const [, target] = nameAndTarget(event);
  if (target.tool === undefined || /[*?]/.test(target.tool)) return undefined;
  const scope = scopeNamed(target);
  return { tool: target.tool, server: serverOf(target), ...(scope === undefined ? {} : { scope }) };
}

/** `name`, `server/name`, or a glob of either; `server:name` for a server itself. */
export function matchesSubject(pattern: string, { kind, server, name }: Subject): boolean {
  if (kind === 'server') return pattern === '*' || matchesGlob(pattern, `server:${server}`);
  return matchesGlob(pattern, name) || matchesGlob(pattern, `${server}/${name}`);
}
