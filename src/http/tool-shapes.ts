import { z } from '@hono/zod-openapi';
import { nameOf } from '../domain/trust/describe.ts';
import { partView, rulesOf } from '../domain/trust/part-view.ts';
import { scopeOfPart, strictest } from '../domain/trust/parts.ts';
import type { Lately } from '../postgres/read-lately.ts';
import type { KnownSubject } from '../postgres/read-subjects.ts';
import type { PublishedRules } from '../postgres/rules.ts';

export const Time = z.iso.datetime();
export const State = z.enum(['TRUSTED', 'RECOVERING', 'ESCALATED', 'BLOCKED']);

/** Trust of one part: all calls, or a host, a program, a directory. */
export const Part = z
  .object({
    scope: z.string().nullable(),
    label: z.string(),
    state: State,
    since: Time.nullable(),
    reason: z.string().nullable(),
    until: Time.nullable().openapi({ description: 'when time alone changes it' }),
    successes: z.number().int().nullable(),
    successesNeeded: z.number().int().nullable(),
    by: z.string().nullable().openapi({ description: 'who ordered it, where a person did' }),
  })
  .openapi('Part');
export type Part = z.infer<typeof Part>;

export const Tool = Part.extend({
  id: z.number().int().openapi({ description: 'as events name it: trust:<id>' }),
  key: z.string().openapi({ description: 'also the id of its workflow' }),
  kind: z.enum(['tool', 'server']),
  server: z.string(),
  name: z.string(),
  title: z.string(),
  otherScopesInDoubt: z.number().int(),
  outcomes: z.number().int(),
  failures: z.number().int(),
  unapplied: z.number().int(),
  lately: z
    .array(z.object({ outcomes: z.number().int(), failures: z.number().int() }))
    .openapi({ description: 'the newest outcomes, at most 200, in at most 20 equal shares, oldest first' }),
  lastFailure: z.object({ at: Time, severity: z.string().nullable(), message: z.string() }).nullable(),
}).openapi('Tool');
export type Tool = z.infer<typeof Tool>;

export const time = (ms: number) => new Date(ms).toISOString();

/** A subject in one line: its strictest part stands for it. */
export function toolShown(known: KnownSubject, published: PublishedRules, lately: Lately | undefined): Tool {
  const { id, key, kind, server, name, outcomes, failures, unapplied } = known;
  const { part, state } = strictest(known.parts);
  const others = Object.entries(known.parts).filter(([other, held]) => other !== part && held.status !== 'TRUSTED');
  const last = lately?.lastFailure ?? null;
  return {
    ...{ id, key, kind, server, name, title: nameOf(known) },
    ...partView(known, rulesOf(known, published), part, state),
    otherScopesInDoubt: new Set(others.map(([other]) => scopeOfPart(other))).size,
    ...{ outcomes, failures, unapplied },
    lately: [...(lately?.buckets ?? [])],
    lastFailure: last === null ? null : { ...last, at: time(last.at) },
  };
}
