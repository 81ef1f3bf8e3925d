import type { Parts } from './parts.ts';
import { stricter } from './trust.ts';

/** Two memories of one subject that disagree: of each part the stricter one holds, and of equals the first. */
export function stricterOf(mine: Parts, theirs: Parts): Parts {
  const merged: Record<string, Parts[string]> = { ...theirs, ...mine };
  for (const [part, state] of Object.entries(theirs)) {
    const own = mine[part];
    if (stricter(state.status, own?.status ?? 'TRUSTED')) merged[part] = state;
  }
  return merged;
}
