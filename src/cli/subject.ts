import type pg from 'pg';
import { nameOf } from '../domain/trust/describe.ts';
import { LOCAL } from '../domain/trust/entry.ts';
import type { Subject } from '../domain/trust/parts.ts';
import { plural } from '../domain/trust/tally.ts';
import { readSubjects } from '../postgres/read-subjects.ts';
import type { KnownSubject } from '../postgres/read-subjects.ts';
import { Problem } from '../problem.ts';
import { plain } from './text.ts';
import { UsageError } from './usage.ts';

/** As a person types it to mean this subject and no other. */
export function typed({ kind, server, name }: Subject): string {
  return plain(kind === 'server' ? `server:${server}` : `${server}/${name}`);
}

/** Every tool and server that a pattern means; none is a Problem. */
export async function subjectsMatching(pool: pg.Pool, pattern: string): Promise<readonly KnownSubject[]> {
  const found = await readSubjects(pool, { pattern });
  if (found.length > 0) return found;
  const alike = await readSubjects(pool, { pattern: `*${pattern.replace(/^.*[/:]/, '')}*`, limit: 5 });
  throw new Problem(
    `No tool or server matches ${JSON.stringify(pattern)}.`,
    alike.length > 0
      ? `Did you mean ${alike.map(typed).join(', ')}?`
      : 'A tool is known from its first report on. `surety status` lists them.',
  );
}

export interface Meant {
  readonly subject: Subject;
  /** Absent where no outcome has ever been reported. */
  readonly known?: KnownSubject;
}

/** The one tool or server that is meant by `name`, `server/name` or `server:name`. */
export async function subjectMeant(pool: pg.Pool, text: string): Promise<Meant> {
  const found = await readSubjects(pool, { pattern: text });
  // A tool without a server goes by its bare name everywhere, so that is what a bare name means.
  const local = found.filter(({ server, name }) => server === LOCAL && name === text);
  const [first, ...others] = local.length === 1 ? local : found;
  if (first === undefined) return { subject: subjectIn(text) };
  if (others.length > 0) {
    const names = [first, ...others].slice(0, 8).map(typed);
    throw new UsageError(`${JSON.stringify(text)} may be any of ${names.join(', ')}.`, 'Name one of them.');
  }
  return { subject: { kind: first.kind, server: first.server, name: first.name }, known: first };
}

function subjectIn(text: string): Subject {
  if (text.startsWith('server:')) return { kind: 'server', server: text.slice('server:'.length), name: '' };
  const slash = text.indexOf('/');
  return slash > 0
    ? { kind: 'tool', server: text.slice(0, slash), name: text.slice(slash + 1) }
    : { kind: 'tool', server: LOCAL, name: text };
}

/** "2 tools and 1 server". */
export function counted(subjects: readonly Subject[]): string {
  const count = (kind: Subject['kind']) => subjects.filter((subject) => subject.kind === kind).length;
  const words = (['tool', 'server'] as const)
    .filter((kind) => count(kind) > 0)
    .map((kind) => plural(count(kind), kind));
  return words.join(' and ');
}

export function shownName(subject: Subject): string {
  return plain(nameOf(subject));
}
