import * as z from 'zod';
import { Rules } from './rules.schema.ts';

/** One line per offending value, each with its path. */
export class InvalidRules extends Error {
  override readonly name = 'InvalidRules';
  readonly complaints: readonly string[];
  constructor(complaints: readonly string[]) {
    super(complaints.join('\n'));
    this.complaints = complaints;
  }
}

export function parseRules(json: unknown): Rules {
  const parsed = Rules.safeParse(migrateForward(json));
  if (parsed.success) return parsed.data;
  throw new InvalidRules(parsed.error.issues.map((issue) => complaint(issue, json)));
}

/** The schema an editor reads; committed as surety.schema.json. */
export function rulesJsonSchema(): object {
  return z.toJSONSchema(Rules, { io: 'input', target: 'draft-2020-12' });
}

function complaint(issue: z.core.$ZodIssue, json: unknown): string {
  const path = issue.path.map(String);
  const value = path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined),
    json,
  );
  const got = value === undefined ? '' : `, got ${JSON.stringify(value).slice(0, 80)}`;
  return `${path.join('.') || '(file)'}: ${issue.message}${got}`;
}

const FIRST_NAMES: Readonly<Record<string, string>> = {
  plugin_rules: 'serverRules',
  pluginRules: 'serverRules',
  notify_user: 'notify',
  notifyUser: 'notify',
};

/** Version 0 spelt its keys in snake case and called servers plugins. A rule's own name is never rewritten. */
function migrateForward(json: unknown): unknown {
  if (!isRecord(json)) return json;
  const file = renamed(json);
  if (file['version'] === 0) delete file['version'];
  for (const key of ['toolRules', 'domainRules', 'serverRules']) {
    const byName = file[key];
    if (isRecord(byName)) file[key] = Object.fromEntries(Object.entries(byName).map(([k, rule]) => [k, renamed(rule)]));
  }
  if ('defaultRule' in file) file['defaultRule'] = renamed(file['defaultRule']);
  return file;
}

function renamed(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) return value as Record<string, unknown>;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [FIRST_NAMES[key] ?? camelCase(key), inner]));
}

function camelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
