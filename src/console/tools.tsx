import { useState } from 'preact/hooks';
import type { Tool } from '../http/tool-shapes.ts';
import type { ToolsPage } from '../http/tools.ts';
import { Ago, Empty, For, Loading, Next, Problem, StatePill } from './parts.tsx';
import type { State } from './parts.tsx';
import { usePages } from './pages.ts';
import { hrefOf } from './route.ts';
import { SearchField, useSearch } from './search.tsx';
import { Sparkline } from './sparkline.tsx';
import { clock } from './time.ts';

const STATES: readonly State[] = ['BLOCKED', 'ESCALATED', 'RECOVERING', 'TRUSTED'];
const concerns = (what: string) => what.startsWith('trust:') || what === 'settings';

export function Tools() {
  const [state, setState] = useState<State | undefined>(undefined);
  const { search, query, ...field } = useSearch();
  const ofState = state === undefined ? '' : `&state=${state}`;
  const { data, problem, hasMore, showMore } = usePages<ToolsPage>(`/v1/tools?limit=50${ofState}${query}`, concerns);
  const first = data?.[0];
  const tools = data?.flatMap((page) => page.tools);
  return (
    <>
      <h1>Tools</h1>
      <Problem problem={problem} />
      {first === undefined ? null : <BreakGlass glass={first.summary.breakGlass} />}
      {first === undefined ? null : <Recoveries recoveries={first.recoveries} />}
      <div class="controls">
        <div class="filters" role="group" aria-label="Filter by state">
          <Filter
            name="all"
            count={first && sum(first)}
            isOn={state === undefined}
            choose={() => setState(undefined)}
          />
          {STATES.map((one) => (
            <Filter
              key={one}
              name={one.toLowerCase()}
              count={first?.summary.states[one]}
              isOn={state === one}
              choose={() => setState(one)}
            />
          ))}
        </div>
        <SearchField by="Search by name or server" {...field} />
      </div>
      {tools === undefined ? (
        problem === undefined ? (
          <Loading />
        ) : null
      ) : tools.length === 0 ? (
        <Nothing isFiltered={state !== undefined || search !== ''} />
      ) : (
        <ul class="rows tools" aria-label="Tools">
          {tools.map((tool) => (
            <Row key={tool.id} tool={tool} />
          ))}
        </ul>
      )}
      {hasMore ? (
        <button type="button" class="more" onClick={showMore}>
          Show more
        </button>
      ) : null}
    </>
  );
}

function Row({ tool }: { readonly tool: Tool }) {
  const more = tool.otherScopesInDoubt === 0 ? '' : ` and ${tool.otherScopesInDoubt} more`;
  return (
    <li>
      <a class="row" href={hrefOf('tools', tool.key)}>
        <StatePill state={tool.state} ofScope={tool.scope !== null} />
        <span class="what">
          <strong>{tool.title}</strong>
          {tool.state === 'TRUSTED' ? null : (
            <span class="why">
              {tool.scope === null ? '' : `${tool.label}${more}: `}
              {tool.reason}
            </span>
          )}
        </span>
        <Sparkline lately={tool.lately} />
        <span class="counts number">
          {tool.outcomes === 0
            ? 'nothing of its own'
            : `${tool.failures.toLocaleString()} of ${tool.outcomes.toLocaleString()} failed`}
          {tool.lastFailure === null ? null : (
            <span class="quiet">
              last <Ago at={tool.lastFailure.at} />
            </span>
          )}
        </span>
        <span class="next quiet">
          <Next part={tool} />
        </span>
      </a>
    </li>
  );
}

function Filter(props: { name: string; count: number | undefined; isOn: boolean; choose: () => void }) {
  return (
    <button type="button" class="filter" aria-pressed={props.isOn} onClick={props.choose}>
      {props.name} <span class="number count">{props.count?.toLocaleString() ?? ''}</span>
    </button>
  );
}

function sum({ summary: { states } }: ToolsPage): number {
  return Object.values(states).reduce((all, count) => all + count, 0);
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="No tool is like that.">Choose another state, or search for less.</Empty>
  ) : (
    <Empty title="No tool has been reported yet.">
      A tool is known from its first report on. <code>surety demo</code> shows three of them break and recover;{' '}
      <code>gate.guard</code> in a program reports by itself.
    </Empty>
  );
}

function Recoveries({ recoveries }: Pick<ToolsPage, 'recoveries'>) {
  if (recoveries.length === 0) return null;
  return (
    <section class="notice" aria-label="Pending recoveries">
      <strong>Cooled down, and waiting for an operator to order their recovery</strong>
      <ul>
        {recoveries.map(({ key, title, scope, label, since }) => (
          <li key={`${key} ${scope ?? ''}`}>
            <a href={hrefOf('tools', key)}>{title}</a> {scope === null ? '' : `(${label}) `}
            <span class="quiet">
              <For since={since} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function BreakGlass({ glass }: { readonly glass: ToolsPage['summary']['breakGlass'] }) {
  if (glass === null) return null;
  return (
    <p class="notice bad">
      <strong>Break glass until {clock(glass.until)}</strong>, by {glass.by}: {glass.reason}. Everything but the
      blocklist is allowed.
    </p>
  );
}
