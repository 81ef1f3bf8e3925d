import type { Status } from '../trust/trust.ts';
import { commandPattern, globPattern, type CommandPattern, type GlobPattern } from './pattern.ts';
import type { ShellRules } from './policy.schema.ts';
import type { Construct } from './reading/reading.ts';

export type Verdict = 'allow' | 'ask' | 'deny';

/**
 * How far a caller's commands are approved without anybody being asked.
 * blocked      nothing runs
 * untrusted    only what an allow rule names; all else asks
 * provisional  whatever can be read and is on no list
 * trusted      also what is on the list of commands to confirm
 * What cannot be read asks at every level, what is blocked is denied at every level.
 */
export const TRUST_LEVELS = ['blocked', 'untrusted', 'provisional', 'trusted'] as const;
export type TrustLevel = (typeof TRUST_LEVELS)[number];
/** What a policy may grant to a tool that is TRUSTED. */
export const GRANTED_LEVELS = ['untrusted', 'provisional', 'trusted'] as const;

/** The level of a tool in this state: never more than the policy grants, and less while trust is earned back. */
export function trustLevelOf(status: Status, granted: ShellRules['trust']): TrustLevel {
  switch (status) {
    case 'BLOCKED':
      return 'blocked';
    case 'ESCALATED':
      return 'untrusted';
    case 'RECOVERING':
      return granted === 'trusted' ? 'provisional' : granted;
    case 'TRUSTED':
      return granted;
  }
}

/** Denied however anybody decides; only the rules file takes a program off this list. */
const BLOCKED = [
  ...[
    'sudo',
    'sudo-rs',
    'sudo.ws',
    'sudoedit',
    'doas',
    'run0',
    'su',
    'sg root',
    'runuser',
    'pkexec',
    'mkfs',
    'mkfs.*',
    'dd if=*',
    'curl',
    'wget',
    'wget2',
    'nc',
    'nc.openbsd',
    'nc.traditional',
    'ncat',
    'netcat',
  ],
  ...[
    'shutdown',
    'reboot',
    'halt',
    'poweroff',
    'systemctl poweroff',
    'systemctl reboot',
    'systemctl halt',
    'systemctl soft-reboot',
  ],
  ...['init 0', 'init 6', 'telinit 0', 'telinit 6', 'systemctl kexec', 'kexec', 'loginctl reboot', 'loginctl poweroff'],
  ...['reboot', 'poweroff', 'halt', 'kexec'].flatMap((stop) => [
    `systemctl start ${stop}.target`,
    `systemctl isolate ${stop}.target`,
  ]),
];
export const DEFAULT_CONFIRM_PATTERNS = [
  ...[
    'rm',
    'git push -f',
    'git push --force',
    'git push --force-*',
    'git push +*',
    'drop table',
    'drop database',
    'truncate',
  ],
  ...['$(', '`', '<(', '>(', '<<<', 'eval'],
];
const CONSTRUCTS: readonly string[] = ['$(', '`', '<(', '>(', '<<<'] satisfies Construct[];

/** Patterns by the program they are about; under `*` those that may be about any. */
export type PatternsByProgram = ReadonlyMap<string, readonly CommandPattern[]>;

const NO_PATTERNS: readonly CommandPattern[] = [];

/** Shell rules made ready to be asked. */
export interface Policy {
  readonly rules: ShellRules;
  readonly blocked: readonly CommandPattern[];
  readonly blockedBy: PatternsByProgram;
  /** Blocked whatever follows them. */
  readonly blockedPrograms: ReadonlySet<string>;
  /** Finds one of those in a text, as a word or at the end of a path. */
  readonly blockedName: RegExp;
  /** Whether the commands by which people decide with Surety are denied. */
  readonly blocksOwnCommands: boolean;
  readonly confirm: readonly CommandPattern[];
  readonly confirmBy: PatternsByProgram;
  readonly confirmConstructs: ReadonlySet<string>;
  /** Whether any of the three lists below has an entry. */
  readonly hasGlobs: boolean;
  readonly deny: readonly GlobPattern[];
  readonly ask: readonly GlobPattern[];
  readonly allow: readonly GlobPattern[];
}

export function policyOf(rules: ShellRules): Policy {
  const lifted = rules.allowedCommands.map(withoutEnd);
  const isLifted = (pattern: string): boolean =>
    lifted.some((each) => each === withoutEnd(pattern) || each === pattern.split(' ')[0]);
  const builtIn = BLOCKED.filter((pattern) => !isLifted(pattern));
  const blocked = [...builtIn, ...rules.blockedCommands].map(commandPattern);
  const blockedPrograms = new Set(blocked.filter(({ words }) => words.length === 0).map(({ program }) => program));
  const confirm = rules.confirmPatterns.filter((each) => !CONSTRUCTS.includes(each)).map(commandPattern);
  return {
    rules,
    blocked,
    blockedBy: byProgram(blocked),
    blockedPrograms,
    blockedName: nameAmong(blockedPrograms),
    blocksOwnCommands: !lifted.includes('surety'),
    confirm,
    confirmBy: byProgram(confirm),
    confirmConstructs: new Set(rules.confirmPatterns.filter((each) => CONSTRUCTS.includes(each))),
    hasGlobs: rules.deny.length + rules.ask.length + rules.allow.length > 0,
    deny: rules.deny.map(globPattern),
    ask: rules.ask.map(globPattern),
    allow: rules.allow.map(globPattern),
  };
}

/** `mkfs` is `mkfs.*` as well, and `dd if=` is `dd if=*`. */
function withoutEnd(pattern: string): string {
  return pattern.toLowerCase().replace(/[.=*]+$/, '');
}

/** Those that may be about a program. */
export function patternsFor(patterns: PatternsByProgram, program: string): readonly CommandPattern[] {
  return patterns.get(program) ?? patterns.get('*') ?? NO_PATTERNS;
}

function nameAmong(programs: ReadonlySet<string>): RegExp {
  if (programs.size === 0) return /(?!)/;
  const names = [...programs].map((name) => name.replace(/[^\w*?]/g, '\\$&').replace(/[*?]/g, '[\\w.-]$&'));
  return new RegExp(`(?<![\\w.-])(?:${names.join('|')})(?![\\w/-]|\\.\\w)`, 'i');
}

function byProgram(patterns: readonly CommandPattern[]): PatternsByProgram {
  const grouped = new Map([['*', patterns.filter(({ isGlob }) => isGlob)]]);
  for (const { program, isGlob } of patterns) {
    if (isGlob || grouped.has(program)) continue;
    grouped.set(
      program,
      patterns.filter((each) => each.isGlob || each.program === program),
    );
  }
  return grouped;
}
