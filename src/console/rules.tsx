import type { RulesPage } from '../http/rules.ts';
import { read } from './api.ts';
import { useLoaded } from './loaded.ts';
import { At, Loading, Problem } from './parts.tsx';
import { pretty } from './visible.ts';

/** The rules in force, as resolved. */
export function Rules() {
  const { data, problem } = useLoaded(
    () => read<RulesPage>('/v1/rules'),
    'rules',
    (what) => what === 'settings',
  );
  return (
    <>
      <h1>Rules</h1>
      <Problem problem={problem} />
      {data === undefined ? problem === undefined ? <Loading /> : null : <Page page={data} />}
    </>
  );
}

function Page({ page }: { readonly page: RulesPage }) {
  const { version, publishedAt, publishedBy, comment, unreadable, resolved, rules } = page;
  return (
    <>
      <p class="lead">
        {publishedAt === null ? (
          'Nobody has published any: everything is as by default.'
        ) : (
          <>
            Version {version}, published by {publishedBy} at <At at={publishedAt} />
            {comment === '' ? '' : `: ${comment}`}
          </>
        )}
      </p>
      {unreadable === null ? null : (
        <p class="notice bad">
          Version {unreadable.version} cannot be read by this Surety, so version {version} holds: {unreadable.complaint}
        </p>
      )}
      <p class="quiet">
        The most specific rule governs, whole: tool before domain before server before default. Publish others with{' '}
        <code>surety rules publish</code>.
      </p>
      {resolved.map(({ path, words }) => (
        <section key={path} class="panel">
          <h2>
            <code class="breaks">{path}</code>
          </h2>
          <ul class="words">
            {words.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </section>
      ))}
      <details>
        <summary>All of it as JSON</summary>
        <pre class="code" tabIndex={0}>
          {pretty(rules)}
        </pre>
      </details>
    </>
  );
}
