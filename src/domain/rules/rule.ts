import type { Rule } from './rules.schema.ts';

/** Moves with every field that a rule gains: workflows carry their rules, and are sent them again when it has moved. */
export const RULE_SHAPE = 2;

/** What governs a tool when nobody says otherwise. Every number is explained in docs/rules.md. */
export const DEFAULT_RULE: Rule = {
  countThreshold: 3,
  consecutiveThreshold: null,
  rateThreshold: null,
  minSamples: 5,
  windowSeconds: 3600,
  severityFilter: ['server_error', 'crash', 'security'],
  expectedFailureRate: 0,
  decayPerHour: 0,
  minReporters: 1,
  repeatedAuthThreshold: 5,
  unknownCounts: false,
  escalationDurationSeconds: 1800,
  cooldownSeconds: 900,
  successCountToRecover: 3,
  autoRecovery: true,
  blockAfter: 5,
  blockAfterRelapses: 3,
  blockDurationSeconds: null,
  securityBlocks: 'tool',
  reachability: { countThreshold: 2, windowSeconds: 300 },
  notify: true,
  enforce: true,
  risk: 'write',
  probeWaitMs: 2000,
  probeLeaseSeconds: 30,
  approval: {
    expiresAfterSeconds: 86_400,
    remindAt: [0.5, 0.9],
    approvers: [],
    nextApproverAfterSeconds: 3600,
    denialHoldsSeconds: 3600,
    selfApproval: false,
    twoForSecurity: false,
    unverified: false,
  },
};

export const PRESETS = {
  default: DEFAULT_RULE,
  conservative: {
    ...DEFAULT_RULE,
    countThreshold: 2,
    windowSeconds: 1800,
    severityFilter: ['server_error', 'crash'],
    escalationDurationSeconds: 3600,
    cooldownSeconds: 1800,
    successCountToRecover: 5,
  },
  lenient: {
    ...DEFAULT_RULE,
    countThreshold: 5,
    severityFilter: ['crash', 'security'],
    escalationDurationSeconds: 900,
    cooldownSeconds: 600,
    successCountToRecover: 2,
  },
  'rate-based': {
    ...DEFAULT_RULE,
    countThreshold: null,
    rateThreshold: 0.5,
    windowSeconds: 600,
    escalationDurationSeconds: 1200,
  },
} satisfies Record<string, Rule>;

/** What counts as a failure of the subject the rule is applied to. A server fails only by being out of reach. */
export type EffectiveRule = Rule & { readonly countBy: 'severity' | 'reachability' };

export const forTool = onceForEach((rule: Rule): EffectiveRule => ({ ...rule, countBy: 'severity' }));

export const forServer = onceForEach((rule: Rule): EffectiveRule => ({
  ...rule,
  ...rule.reachability,
  consecutiveThreshold: null,
  rateThreshold: null,
  expectedFailureRate: 0,
  repeatedAuthThreshold: null,
  minReporters: 1,
  countBy: 'reachability',
}));

/** A rule is asked for with every outcome and never changes: copying it would cost more than all else done with it. */
function onceForEach(make: (rule: Rule) => EffectiveRule): (rule: Rule) => EffectiveRule {
  const made = new WeakMap<Rule, EffectiveRule>();
  return (rule) => {
    const known = made.get(rule);
    if (known !== undefined) return known;
    const effective = make(rule);
    made.set(rule, effective);
    return effective;
  };
}
