import { Recent } from '../recent.ts';
import { judgeCommand, type JudgeContext } from './judge.ts';
import type { Judgement } from './judgement.ts';
import { policyOf, type Policy, type TrustLevel } from './policy.ts';
import { parseShellRules } from './policy.schema.ts';

const MOST_JUDGEMENTS = 2000;
/** Longer texts are seldom the same twice. */
const LONGEST_KEPT = 4096;

export type Replaced =
  { readonly accepted: true } | { readonly accepted: false; readonly complaints: readonly string[] };

/** The policy in force. It can be replaced while calls are judged; one that is not valid leaves the old one in force. */
export class PolicyHolder {
  private policy: Policy;
  private judged = new Map<TrustLevel, Recent<string, Judgement>>();

  constructor(rules: unknown = {}) {
    const parsed = parseShellRules(rules);
    if (!parsed.valid) throw new RangeError(`not a shell policy: ${parsed.complaints.join('; ')}`);
    this.policy = policyOf(parsed.rules);
  }

  get current(): Policy {
    return this.policy;
  }

  judge(text: string, context: JudgeContext = {}): Judgement {
    const trust = context.trust ?? this.policy.rules.trust;
    const kept = this.judged.get(trust) ?? new Recent<string, Judgement>(MOST_JUDGEMENTS);
    const known = kept.get(text);
    if (known !== undefined) return known;
    const judgement = judgeCommand(text, this.policy, { trust });
    if (text.length > LONGEST_KEPT) return judgement;
    kept.set(text, judgement);
    this.judged.set(trust, kept);
    return judgement;
  }

  replace(rules: unknown): Replaced {
    const parsed = parseShellRules(rules);
    if (!parsed.valid) return { accepted: false, complaints: parsed.complaints };
    this.policy = policyOf(parsed.rules);
    this.judged = new Map();
    return { accepted: true };
  }
}
