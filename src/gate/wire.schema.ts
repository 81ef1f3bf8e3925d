import * as z from 'zod';
import { field, storable } from '../domain/outcome/field.ts';
import { Rules } from '../domain/rules/rules.schema.ts';
import { StoredParts } from '../domain/trust/parts.schema.ts';
import type { Grant } from '../domain/approval/grant.ts';
import type { Consumed } from '../postgres/grants.ts';
import type { Standing } from '../postgres/snapshot.ts';
import type { News, Snapshot, Wanted } from './source.ts';

// What a gate and a server that stands before the ledger say to each other.

const Version = z.int().min(0);
const Key = z.string().min(1).max(20_000).overwrite(storable);

const WireStanding: z.ZodType<Standing> = z.object({
  id: z.int(),
  key: Key,
  kind: z.enum(['tool', 'server']),
  server: z.string(),
  name: z.string(),
  version: Version,
  seq: z.number(),
  reason: z.string(),
  dueAt: z.number().nullable(),
  parts: StoredParts,
});

const WireGrant: z.ZodType<Grant> = z.object({
  id: z.string(),
  toolKey: Key,
  kind: z.enum(['once', 'session', 'until', 'always']),
  until: z.number().exactOptional(),
  covers: z.enum(['arguments', 'scope', 'tool']).exactOptional(),
  pattern: z.record(z.string(), z.string()).exactOptional(),
  givenAt: z.number(),
  by: z.string().nullable(),
  agent: z.string().nullable(),
  session: z.string().nullable(),
  scope: z.string().nullable(),
  about: z.object({
    heldUntil: z.number(),
    isSecurity: z.boolean(),
    state: z.enum(['TRUSTED', 'ESCALATED', 'RECOVERING', 'BLOCKED']).nullable(),
  }),
  digest: z.string(),
  replaces: z.string().nullable(),
  definition: z.string().nullable(),
});

/** A newer server may publish what this gate does not know: the rest still holds, and no rules at all would hold everything. */
const RulesAsKnown = z.unknown().transform((given, context) => {
  const whole = Rules.safeParse(given);
  const known = whole.success ? whole : Rules.safeParse(withoutUnknown(given, whole.error.issues));
  if (known.success) return known.data;
  context.issues.push({ code: 'custom', message: z.prettifyError(known.error), input: given });
  return z.NEVER;
});

function withoutUnknown(given: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  const copy = structuredClone(given);
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') continue;
    const holder = issue.path.reduce<unknown>((at, step) => field(at, String(step)), copy);
    for (const key of issue.keys) Reflect.deleteProperty(holder as object, key);
  }
  return copy;
}

const Settings = z.object({ version: Version, brokenGlassUntil: z.number().nullable(), rules: RulesAsKnown });

export const WireSnapshot: z.ZodType<Snapshot> = z.object({
  settings: Settings,
  grants: z.array(WireGrant),
  inDoubt: z.array(WireStanding),
  agent: z.string().optional(),
});

export const WireWanted: z.ZodType<Wanted> = z.strictObject({
  standingsOf: z.array(z.int().min(0)).max(10_000).exactOptional(),
  grantsOf: z.array(z.int().min(0)).max(10_000).exactOptional(),
  allGrants: z.boolean().exactOptional(),
  appliedOf: z.array(Key).max(10_000).exactOptional(),
  knownOf: z.array(Key).max(10_000).exactOptional(),
  recentSeconds: z.number().min(0).max(3600).exactOptional(),
  settingsAfter: Version.exactOptional(),
});

export const WireNews: z.ZodType<News> = z.object({
  standings: z.array(WireStanding),
  grants: z.array(z.object({ toolKey: Key, grants: z.array(WireGrant) })),
  allGrants: z.array(WireGrant).optional(),
  applied: z.array(z.tuple([Key, z.number()])),
  known: z.array(Key),
  settings: Settings.partial({ rules: true }).optional(),
});

export const WireConsumed: z.ZodType<Consumed> = z.object({
  id: z.uuid(),
  kind: z.enum(['once', 'session', 'until', 'always']),
  by: z.string().nullable(),
  edited: z.object({ args: z.unknown(), digest: z.string() }).nullable(),
});

export const WirePlaces = z.object({ places: z.array(z.tuple([Key, z.number()])) });
export const WireProbe = z.object({ token: z.string().nullable() });
export const WireRenewed = z.object({ renewed: z.boolean() });
