import { isDeepStrictEqual } from 'node:util';
import { parseRules } from '../domain/rules/parse-rules.ts';
import { DEFAULT_RULE } from '../domain/rules/rule.ts';
import type { Rule, Rules } from '../domain/rules/rules.schema.ts';

/** One value that differs, as a path into surety.json and what stands there. */
export interface Change {
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

const BY_NAME = ['toolRules', 'domainRules', 'serverRules'] as const;

/** A rule that comes or goes is one change, told by how it differs from the default. */
export function changesBetween(before: Rules, after: Rules): Change[] {
  const plainKeys = Object.keys({ ...before, ...after }).filter(
    (key): key is Exclude<keyof Rules, (typeof BY_NAME)[number]> =>
      !(BY_NAME as readonly string[]).includes(key) && key !== '$schema',
  );
  return [
    ...plainKeys.flatMap((key) => differences(key, before[key], after[key])),
    ...BY_NAME.flatMap((group) => {
      const names = Object.keys({ ...before[group], ...after[group] });
      return names.flatMap((name) =>
        ruleChanges(`${group}[${JSON.stringify(name)}]`, before[group][name], after[group][name]),
      );
    }),
  ];
}

/** What a set of rules says beyond the defaults. */
export function changesFromDefaults(rules: Rules): Change[] {
  return changesBetween(parseRules({}), rules);
}

function ruleChanges(path: string, before: Rule | undefined, after: Rule | undefined): Change[] {
  if (before !== undefined && after !== undefined) return differences(path, before, after);
  return [{ path, from: ruleText(before), to: ruleText(after) }];
}

function ruleText(rule: Rule | undefined): string {
  if (rule === undefined) return 'absent';
  const own = differences('', DEFAULT_RULE, rule).map(({ path, to }) => `${path.slice(1)} ${to}`);
  return own.join(', ') || 'as by default';
}

function differences(path: string, before: unknown, after: unknown): Change[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isRecord(before) || !isRecord(after)) return [{ path, from: textOf(before), to: textOf(after) }];
  return Object.keys({ ...before, ...after }).flatMap((key) => differences(`${path}.${key}`, before[key], after[key]));
}

function textOf(value: unknown): string {
  return value === undefined ? 'absent' : JSON.stringify(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
