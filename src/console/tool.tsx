import type { ToolPage } from '../http/tool.ts';
import { read } from './api.ts';
import { mayOrder } from './frame.tsx';
import { useLoaded } from './loaded.ts';
import { Orders } from './orders.tsx';
import { Ago, At, Empty, Loading, Next, Problem, StatePill, Until } from './parts.tsx';
import { hrefOf } from './route.ts';
import { Sparkline } from './sparkline.tsx';
import { whatHappened } from './words.ts';

/** One tool: where it is, why, and what comes next. */
export function Tool({ toolKey }: { readonly toolKey: string }) {
  const { data, problem, reload } = useLoaded(
    () => read<ToolPage>(`/v1/tools/${encodeURIComponent(toolKey)}`),
    toolKey,
    // Which number the tool has is not known before it was read.
    (what): boolean =>
      what === 'settings' || (data === undefined ? what.startsWith('trust:') : what === `trust:${data.id}`),
  );
  return (
    <>
      <p class="back">
        <a href={hrefOf('tools')}>← Tools</a>
      </p>
      {problem?.status === 404 ? (
        <Empty title="No such tool.">Nothing has been reported of {toolKey}; the list has those that were.</Empty>
      ) : (
        <Problem problem={problem} />
      )}
      {data === undefined ? problem === undefined ? <Loading /> : null : <Page tool={data} reload={reload} />}
    </>
  );
}

function Page({ tool, reload }: { readonly tool: ToolPage; readonly reload: () => void }) {
  return (
    <>
      <div class="head">
        <h1>{tool.title}</h1>
        <StatePill state={tool.state} ofScope={tool.scope !== null} />
      </div>
      <p class="lead">
        {tool.scope === null ? '' : `${tool.label}: `}
        {tool.reason ?? 'Nothing is held against it.'}
      </p>
      <dl class="facts">
        {tool.next === null ? null : (
          <div>
            <dt>Next</dt>
            <dd>
              {tool.next.what} in <Until at={tool.next.at} />
            </dd>
          </div>
        )}
        <div>
          <dt>Outcomes</dt>
          <dd class="number">
            {tool.failures.toLocaleString()} of {tool.outcomes.toLocaleString()} failed
            {tool.rejected === 0 ? '' : `, ${tool.rejected} not understood`}
          </dd>
        </div>
        <div>
          <dt>Lately</dt>
          <dd>
            <Sparkline lately={tool.lately} fromLeft />
          </dd>
        </div>
        <div>
          <dt>First seen</dt>
          <dd>
            <Ago at={tool.firstSeenAt} />
          </dd>
        </div>
        <div>
          <dt>Workflow</dt>
          <dd class="breaks">
            {tool.workflowUrl === null ? (
              <code>{tool.key}</code>
            ) : (
              <a href={tool.workflowUrl} target="_blank" rel="noreferrer">
                {tool.key} in Temporal UI
              </a>
            )}
          </dd>
        </div>
      </dl>
      {mayOrder() ? <Orders tool={tool} done={reload} /> : null}
      <Parts tool={tool} />
      <Timeline timeline={tool.timeline} />
      <Outcomes recent={tool.recent} />
      <Rule rule={tool.rule} />
    </>
  );
}

function Parts({ tool }: { readonly tool: ToolPage }) {
  const { parts, serverInDoubt } = tool;
  const shown = [...(serverInDoubt === null ? [] : [{ ...serverInDoubt, label: `server ${tool.server}` }]), ...parts];
  return (
    <section>
      <h2>Everything that has a say</h2>
      <ul class="rows">
        {shown.map((part) => (
          <li key={part.label} class="row part">
            <StatePill state={part.state} />
            <span class="what">
              <strong>{part.label}</strong>
              {part.reason === null ? null : <span class="why">{part.reason}</span>}
            </span>
            <span class="next quiet">
              <Next part={part} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Timeline({ timeline }: Pick<ToolPage, 'timeline'>) {
  if (timeline.length === 0) return null;
  return (
    <section>
      <h2>Timeline</h2>
      <ol class="timeline">
        {timeline.map(({ at, what, label, actor, reason }, index) => (
          <li key={`${at} ${what} ${index}`} class={what.split(' ')[0]}>
            <At at={at} />
            <span>
              <strong>{whatHappened(what)}</strong>
              {label === null ? '' : ` for ${label}`}
              {actor === 'surety' ? '' : ` by ${actor}`}
              {reason === '' ? null : <span class="why">{reason}</span>}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Outcomes({ recent }: Pick<ToolPage, 'recent'>) {
  if (recent.length === 0) return null;
  return (
    <section>
      <h2>Recent outcomes</h2>
      <ol class="timeline">
        {recent.map(({ id, at, kind, severity, scope, agent, message }) => (
          <li key={id} class={kind}>
            <At at={at} />
            <span>
              <strong>{kind}</strong>
              {[severity, scope, agent === null ? null : `agent ${agent}`]
                .filter(Boolean)
                .map((text) => ` · ${text ?? ''}`)}
              {message === '' ? null : <span class="why">{message}</span>}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Rule({ rule }: Pick<ToolPage, 'rule'>) {
  return (
    <section>
      <h2>Rule</h2>
      <p>
        <code class="breaks">{rule.path}</code> governs it, in <a href={hrefOf('rules')}>version {rule.version}</a>.
      </p>
      <ul class="words">
        {rule.words.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      {rule.candidates.length < 2 ? null : (
        <ul class="words quiet">
          {rule.candidates.map(({ path, won, because }) => (
            <li key={path}>
              <span aria-hidden="true">{won ? '✓' : '·'}</span> <code>{path}</code>: {because}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
