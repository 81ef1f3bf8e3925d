import type pg from 'pg';
import { TRUSTED } from '../domain/trust/trust.ts';
import type { TrustState } from '../domain/trust/trust.ts';
import { partOfAgent, scopeOfPart, WHOLE } from '../domain/trust/parts.ts';
import type { Subject } from '../domain/trust/parts.ts';
import { readHistory } from '../postgres/read-history.ts';
import type { KnownSubject } from '../postgres/read-subjects.ts';
import type { PublishedRules } from '../postgres/rules.ts';
import { partView, rulesOf } from './state.ts';
import type { PartView } from './state.ts';
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
const MOST_EXPLAINED = 5;

/** For each part in doubt the failures up to the moment it began, newest first. */
export async function leadingTo(pool: pg.Pool, parts: readonly PartWithASay[]) {
  const inDoubt = parts.filter(({ state }) => state !== 'TRUSTED').slice(0, MOST_EXPLAINED);
  return Promise.all(
    inDoubt.map(async ({ subject, kind, id, label, scope, since }) => {
      const entries = await readHistory(pool, {
        subjects: id === null ? [] : [id],
        ofServers: kind === 'server',
        failuresOnly: true,
        limit: MOST_CAUSES,
        ...(scope === null ? {} : { scope: scopeOfPart(scope) }),
        ...(since === null ? {} : { until: Date.parse(since) }),
      });
      return {
        ...{ subject, label },
        failures: entries.map(({ at, severity, agent, detail }) => ({
          ...{ at: iso(at), severity, agent },
          message: typeof detail['message'] === 'string' ? detail['message'] : '',
        })),
      };
    }),
  );
}
