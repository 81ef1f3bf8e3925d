import { isDeepStrictEqual } from 'node:util';
import { parseRules } from '../domain/rules/parse-rules.ts';
import { DEFAULT_RULE } from '../domain/rules/rule.ts';
import type { Rule, Rules } from '../domain/rules/rules.schema.ts';

const BY_NAME = ['toolRules', 'domainRules', 'serverRules'] as const;

/** One line per key that differs. A rule that comes or goes is one line, told by how it differs from the default. */
export function changesBetween(before: Rules, after: Rules): string[] {
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
export function named(rules: Rules): string[] {
  return changesBetween(parseRules({}), rules).map((line) => line.replace(/^([^:]+): .* → /, '$1: '));
}

export function sameRules(a: Rules, b: Rules): boolean {
  return changesBetween(a, b).length === 0;
}

function ruleChanges(path: string, before: Rule | undefined, after: Rule | undefined): string[] {
  if (before !== undefined && after !== undefined) return differences(path, before, after);
  if (after === undefined) return before === undefined ? [] : [`${path}: removed`];
  const own = Object.entries(after).filter(
    ([key, value]) => !isDeepStrictEqual(value, DEFAULT_RULE[key as keyof Rule]),
  );
  const words = own.map(([key, value]) => `${key} ${JSON.stringify(value)}`).join(', ');
  return [`${path}: added, ${words || 'as by default'}`];
}

function differences(path: string, before: unknown, after: unknown): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isRecord(before) || !isRecord(after)) return [`${path}: ${textOf(before)} → ${textOf(after)}`];
  return Object.keys({ ...before, ...after }).flatMap((key) => differences(`${path}.${key}`, before[key], after[key]));
}

function textOf(value: unknown): string {
  return value === undefined ? 'absent' : JSON.stringify(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
