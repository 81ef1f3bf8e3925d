import { diffLines } from './diff.ts';

const NAME = { '-': 'removed', '+': 'added', ' ': '' } as const;

/** What was asked against what is to run instead. */
export function Diff({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const lines = diffLines(pretty(before), pretty(after));
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

export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
