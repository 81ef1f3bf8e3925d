import type pg from 'pg';
import { TRUSTED } from '../domain/trust/trust.ts';
import type { TrustState } from '../domain/trust/trust.ts';
import type { EffectiveRule } from '../domain/rules/rule.ts';
import { partOfAgent, ruleOfPart, scopeOfPart, WHOLE } from '../domain/trust/parts.ts';
import type { Subject } from '../domain/trust/parts.ts';
import { partView, rulesOf } from '../domain/trust/part-view.ts';
import type { PartView } from '../domain/trust/part-view.ts';
import { bellOf } from '../domain/trust/rings.ts';
import { readHistory } from '../postgres/read-history.ts';
import type { HistoryEntry } from '../postgres/read-history.ts';
import type { KnownSubject } from '../postgres/read-subjects.ts';
import type { PublishedRules } from '../postgres/rules.ts';
import { shownName } from './subject.ts';
import { iso } from './time.ts';

/** A part that has a say about a call, trusted or not. */
export interface PartWithASay extends PartView {
  readonly subject: string;
  readonly kind: Subject['kind'];
  readonly id: number | null;
}

/** Server, tool, scope, and what this agent alone has seen. Without a scope, every part that is in doubt as well. */
export function partsWithASay(
  subject: Subject,
  standings: readonly KnownSubject[],
  published: PublishedRules,
  scope: string | null,
  agent: string | undefined,
): readonly PartWithASay[] {
  const subjects: Subject[] = [
    ...standings.filter(({ kind }) => kind === 'server').filter(() => subject.kind === 'tool'),
    subject,
  ];
  return subjects.flatMap((one) => {
    const known = standings.find(({ kind }) => kind === one.kind);
    const kept = known?.parts ?? {};
    const own = agent === undefined ? [] : [partOfAgent(WHOLE, agent), partOfAgent(scope ?? WHOLE, agent)];
    const always = one.kind === 'server' ? [WHOLE] : [WHOLE, ...(scope === null ? [] : [scope])];
    const stored = [...own, ...(scope === null ? Object.keys(kept) : [])].filter((part) => isInDoubt(kept[part]));
    return [...new Set([...always, ...stored])].map((part) => ({
      subject: shownName(one),
      kind: one.kind,
      id: known?.id ?? null,
      ...partView(one, rulesOf(one, published), part, kept[part] ?? TRUSTED),
    }));
  });
}

function isInDoubt(state: TrustState | undefined): boolean {
  return state !== undefined && state.status !== 'TRUSTED';
}

const MOST_CAUSES = 5;
const MOST_LOOKED_AT = 100;
const MOST_EXPLAINED = 5;

/** For each part in doubt the failures that counted, up to the moment it began and newest first; or the order. */
export async function leadingTo(
  pool: pg.Pool,
  subject: Subject,
  parts: readonly PartWithASay[],
  standings: readonly KnownSubject[],
  published: PublishedRules,
) {
  const inDoubt = parts.filter(({ state }) => state !== 'TRUSTED').slice(0, MOST_EXPLAINED);
  return Promise.all(
    inDoubt.map(async (part) => {
      const { kind, id, label, scope, since, by, reason } = part;
      const entries = await readHistory(pool, {
        subjects: id === null || by !== null ? [] : [id],
        ofServers: kind === 'server',
        failuresOnly: true,
        limit: MOST_LOOKED_AT,
        ...(scope === null ? {} : { scope: scopeOfPart(scope) }),
        ...(since === null ? {} : { until: Date.parse(since) }),
      });
      const kept = standings.find((standing) => standing.kind === kind)?.parts ?? {};
      // Nothing before a reset or an earlier recovery counts.
      const cutAt = Math.max(kept[scope ?? WHOLE]?.tally.cutAt ?? 0, kept[WHOLE]?.tally.cutAt ?? 0);
      const one: Subject = kind === 'server' ? { kind, server: subject.server, name: '' } : subject;
      const rule = ruleOfPart(one, rulesOf(one, published), scope ?? WHOLE);
      return {
        ...{ subject: part.subject, label, order: by === null ? null : reason },
        failures: entries
          .filter((entry) => entry.at >= cutAt && isCounted(entry, rule))
          .slice(0, MOST_CAUSES)
          .map(({ at, severity, agent, detail }) => ({
            ...{ at: iso(at), severity, agent },
            message: typeof detail['message'] === 'string' ? detail['message'] : '',
          })),
      };
    }),
  );
}

/** What the rule counts, and what counts whatever it says; a call that was never answered has no severity. */
function isCounted({ severity, category }: HistoryEntry, rule: EffectiveRule): boolean {
  if (severity === null) return true;
  if (rule.countBy === 'reachability') return category === 'reachability';
  return bellOf({ kind: 'failure', severity, ...(category === null ? {} : { category }) }, rule) !== 'not';
}
