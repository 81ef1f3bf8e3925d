import type { Parts } from './parts.ts';
import { concernSince, stricter, withConcern } from './trust.ts';

/**
 * Two memories of one subject that disagree: of each part the stricter one holds, and of equals the first. A concern of
 * security that one of them knows of is one, whichever holds.
 */
export function stricterOf(mine: Parts, theirs: Parts): Parts {
  const merged: Record<string, Parts[string]> = { ...theirs, ...mine };
  for (const [part, state] of Object.entries(theirs)) {
    const own = mine[part];
    const [holds, other] = stricter(state.status, own?.status ?? 'TRUSTED') ? [state, own] : [own, state];
    if (holds === undefined) continue;
    const concern = other === undefined ? undefined : concernSince(other);
    merged[part] = concern === undefined ? holds : withConcern(holds, concern);
  }
  return merged;
}
