import * as z from 'zod';
import { AuditSection } from '../audit/audit.schema.ts';
import {
  AuthorisationSection,
  MaxToolCallsPerSession,
  QuotaWindowSecs,
  RetrySection,
  RunnerSection,
} from '../execution/execution.schema.ts';
import { FileSection } from '../files/files.schema.ts';
import { SEVERITIES } from '../outcome/outcome.ts';
import { ShellRules } from '../policy/policy.schema.ts';
import { DEFAULT_RULE, PRESETS } from './rule.ts';

const positive = z.int().positive().max(1_000_000);
/** What is counted is remembered one by one, for every scope; more than this is the business of a rate. */
const counted = z.int().positive().max(1000);
const seconds = z.int().positive().max(31_536_000);
const share = z.number().min(0).max(1);

/** How people are asked about a call that the gate holds. */
export const ApprovalTerms = z.strictObject({
  expiresAfterSeconds: seconds.describe('How long a question stays open.'),
  remindAt: z.array(share.gt(0).lt(1)).max(10).describe('Shares of that time at which those asked are reminded.'),
  approvers: z
    .array(z.array(z.string().min(1).max(200)).min(1).max(50))
    .max(10)
    .describe('Who is asked, level by level. Empty: whoever may approve.'),
  nextApproverAfterSeconds: seconds.describe('How long each level has before the next is asked, too.'),
  denialHoldsSeconds: z.int().min(0).max(31_536_000).describe('How long a denial answers the same question.'),
  selfApproval: z.boolean().describe('Whether whoever asked may decide.'),
  twoForSecurity: z.boolean().describe('Whether two people must agree where a security concern is held against it.'),
  unverified: z.boolean().describe('Whether a decision by bare Temporal signal counts once there are tokens.'),
});
export type ApprovalTerms = z.infer<typeof ApprovalTerms>;

/** One rule, complete. A file may name any part of it; see RuleInFile. */
export const Rule = z.strictObject({
  countThreshold: z.nullable(counted).describe('Counted failures in the window that escalate.'),
  consecutiveThreshold: z.nullable(positive).describe('Failures in a row that escalate.'),
  rateThreshold: z.nullable(share.gt(0)).describe('Share of failed calls in the window that escalates.'),
  minSamples: positive.describe('Calls in the window before a rate means anything.'),
  windowSeconds: seconds,
  severityFilter: z.array(z.enum(SEVERITIES)).describe('Severities that count. Security always does.'),
  expectedFailureRate: share.lt(1).describe('Share of calls that fail rightly and is not held against the tool.'),
  decayPerHour: share.describe('How fast a failure fades after it has left the window. 0: it is gone at once.'),
  minReporters: positive.describe('Distinct agents that must see failures before a tool escalates for all.'),
  repeatedAuthThreshold: z.nullable(counted).describe('Refused credentials in the window that escalate at once.'),
  unknownCounts: z.boolean().describe('Whether a call that was never answered counts as a timeout.'),
  escalationDurationSeconds: seconds,
  cooldownSeconds: z.int().min(0).max(31_536_000).describe('Time without counted failures before recovery begins.'),
  successCountToRecover: positive,
  autoRecovery: z.boolean().describe('false: ESCALATED waits for `surety recover`.'),
  blockAfter: z.nullable(positive).describe('Counted failures within one escalation that block. null: never.'),
  blockAfterRelapses: z.nullable(positive).describe('Relapses in the window that block. null: never.'),
  blockDurationSeconds: z.nullable(seconds).describe('null: BLOCKED ends only by a person.'),
  securityBlocks: z.enum(['tool', 'scope']).describe('What a security failure blocks.'),
  reachability: z.strictObject({ countThreshold: counted, windowSeconds: seconds }),
  notify: z.boolean(),
  enforce: z.boolean().describe('false: shadow mode. Everything is recorded, nothing is held.'),
  risk: z.enum(['read', 'write', 'destructive']),
  probeWaitMs: z.int().min(0).max(600_000).describe('How long to wait for a probe that somebody else holds.'),
  probeLeaseSeconds: z.int().min(1).max(3600).describe('How long a probe may be silent before it is taken for dead.'),
  approval: ApprovalTerms,
});
export type Rule = z.infer<typeof Rule>;

const presetNames = Object.keys(PRESETS) as (keyof typeof PRESETS)[];

/** Naming one threshold turns the unnamed count threshold off: a rule triggers by what it says, not by a default. */
export const RuleInFile = Rule.partial()
  .extend({
    preset: z.enum(presetNames).optional(),
    comment: z.string().optional(),
    approval: ApprovalTerms.partial().optional(),
  })
  .transform(({ preset, comment: _, approval, ...named }): Rule => {
    const base = preset ? PRESETS[preset] : DEFAULT_RULE;
    const triggersOtherwise = named.consecutiveThreshold != null || named.rateThreshold != null;
    // Zod leaves an absent key out, so nothing undefined can overwrite the base.
    return {
      ...base,
      ...(triggersOtherwise && !preset ? { countThreshold: null } : {}),
      ...(named as Partial<Rule>),
      approval: { ...base.approval, ...(approval as Partial<ApprovalTerms> | undefined) },
    };
  });

const Answer = z.enum(['allow', 'ask', 'deny']);
const Answers = z.strictObject({ read: Answer, write: Answer, destructive: Answer });

/** What the gate answers when trust alone does not say. */
export const Situations = z.strictObject({
  unknown: Answers.default({ read: 'allow', write: 'allow', destructive: 'ask' }),
  stale: Answers.default({ read: 'allow', write: 'allow', destructive: 'ask' }),
  empty: Answers.default({ read: 'ask', write: 'ask', destructive: 'ask' }),
  blocked: Answers.default({ read: 'deny', write: 'deny', destructive: 'deny' }),
});
export type Situations = z.infer<typeof Situations>;

const rulesByName = z.record(z.string().min(1).max(400), RuleInFile).default({});

/** surety.json */
export const Rules = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1).default(1),
  defaultRule: RuleInFile.default(DEFAULT_RULE),
  toolRules: rulesByName.describe('By tool name or server/name; globs allowed.'),
  domainRules: rulesByName.describe('By host; globs allowed.'),
  serverRules: rulesByName.describe('By server; globs allowed.'),
  enableAutoRecovery: z.boolean().default(true),
  persistAcrossSessions: z.boolean().default(true),
  maxHistoryEntries: positive.default(1000).describe('Entries that `surety history` reads back at the most.'),
  maxOpenQuestions: positive
    .default(500)
    .describe('Open questions that one agent may have; one more is refused until some are decided.'),
  enforce: z.boolean().default(true).describe('false: shadow mode for every tool.'),
  blocklist: z.array(z.string().min(1)).default([]).describe('Tools that are denied always, even under break glass.'),
  situations: Situations.prefault({}),
  staleAfterSeconds: z.int().min(1).max(3600).default(10),
  maxLatenessSeconds: z.int().min(0).max(31_536_000).default(3600).describe('How old a report may say it is.'),
  retentionDays: z.int().min(1).max(3650).default(30),
  audit: AuditSection.prefault({}).describe('How the record of tool calls is kept.'),
  file: FileSection.prefault({}).describe('What `surety files` and the file tools may touch.'),
  shell: ShellRules.prefault({}).describe('What commands may run. See docs/policy.md.'),
  runner: RunnerSection.prefault({}).describe('How a command is run that may be run.'),
  retry: RetrySection.prefault({}).describe('How often a tool that says it can be retried is run.'),
  authorization: AuthorisationSection.prefault({}).describe('Who may call which tool of Surety, on which paths.'),
  maxToolCallsPerSession: MaxToolCallsPerSession.describe('null: no limit. Retries are free.'),
  quotaWindowSecs: QuotaWindowSecs.describe("How long after its first call a session's count begins anew."),
});
export type Rules = z.infer<typeof Rules>;
