import { diffLines } from './diff.ts';
import { pretty } from './visible.ts';

const NAME = { '-': 'removed', '+': 'added', ' ': '' } as const;

/** What was asked against what is to run instead. */
export function Diff({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const lines = diffLines(pretty(sorted(before)), pretty(sorted(after)));
  return (
    <div class="code diff" role="figure" aria-label="What was asked against the edit" tabIndex={0}>
      {lines.map(({ sign, text }, index) => (
        <div key={index} class={NAME[sign]}>
          <span class="sign">{sign}</span>
          {sign === ' ' ? null : <span class="unseen">{NAME[sign]}: </span>}
          {text}
        </div>
      ))}
    </div>
  );
}

/** In which order somebody wrote the names of an object makes no difference to what runs. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, held]) => [name, sorted(held)]));
}
