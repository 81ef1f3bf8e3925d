import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApprovalsPage } from '../http/approvals.ts';
import type { Approval } from '../http/shapes.ts';
import { argumentsLine } from '../domain/approval/arguments-line.ts';
import { enderOf } from '../domain/approval/person.ts';
import { partName } from '../domain/trust/part-view.ts';
import { ApprovalView } from './approval.tsx';
import type { Mode } from './decide.tsx';
import { isFocusLost } from './focus.ts';
import { nameOfTool, withoutName } from './words.ts';
import { KeyHelp, useKeys } from './keys.tsx';
import { Ago, Empty, Loading, Problem, Until } from './parts.tsx';
import { usePages } from './pages.ts';
import { go, hrefOf, replace, route } from './route.ts';
import { SearchField, useSearch } from './search.tsx';

const PAGE = 100;
/** So many before the end the next page is read, so that walking through does not stop there. */
const AHEAD = 30;
/** Of the arguments as much as a row can show; the whole is beside it. */
const LINE = 160;
const concerns = (what: string) => what.startsWith('approval:');

/** The inbox: what waits for a person, oldest first, beside the one that is looked at. */
export function Approvals({ id }: { readonly id: string | undefined }) {
  const [status, setStatus] = useState<'pending' | 'decided'>('pending');
  const [mode, setMode] = useState<Mode>(undefined);
  const [isHelpShown, setHelpShown] = useState(false);
  const { search, query, ...field } = useSearch();
  const pages = usePages<ApprovalsPage>(`/v1/approvals?status=${status}&limit=${PAGE}${query}`, concerns);
  const approvals = pages.data?.flatMap((page) => page.approvals) ?? [];
  const count = pages.data?.[0]?.pending;
  const placeOf = (one: string | undefined) => approvals.findIndex((other) => other.id === one);
  const select = (next: Approval | undefined) => {
    if (next === undefined) return;
    setMode(undefined);
    // Moving about leaves one step to go back by, not hundreds.
    if (route.value.id === undefined) go('approvals', next.id);
    else replace('approvals', next.id);
  };
  // Where the one that is looked at has been decided meanwhile, its place tells what comes next.
  const place = useRef(0);
  const shown = placeOf(id);
  if (shown !== -1) place.current = shown;
  const move = (by: number) => {
    // Keys may come faster than the page is drawn: each moves on from where the one before has led.
    const here = route.value.id;
    const at = placeOf(here);
    if (at === -1) select(approvals[here === undefined ? 0 : Math.min(place.current, approvals.length - 1)]);
    else select(approvals[at + by]);
    if (at + by >= approvals.length - AHEAD && pages.hasMore) pages.showMore();
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    a: () => id !== undefined && setMode('approve'),
    d: () => id !== undefined && setMode('deny'),
    e: () => id !== undefined && setMode('edit'),
    Enter: () => id === undefined && select(approvals[0]),
    '?': () => setHelpShown(!isHelpShown),
    Escape: () => (isHelpShown ? setHelpShown(false) : mode === undefined ? go('approvals') : setMode(undefined)),
  });
  return (
    <div class={id === undefined ? 'inbox' : 'inbox one'}>
      <div class="list">
        <div class="head">
          <h1>Approvals</h1>
          <button
            type="button"
            class="plain small"
            aria-expanded={isHelpShown}
            onClick={() => setHelpShown(!isHelpShown)}
          >
            Keys <kbd>?</kbd>
          </button>
        </div>
        {isHelpShown ? <KeyHelp /> : null}
        <div class="filters" role="group" aria-label="Which questions">
          {(['pending', 'decided'] as const).map((one) => (
            <button key={one} type="button" class="filter" aria-pressed={status === one} onClick={() => setStatus(one)}>
              {one === 'pending' ? 'open' : 'decided'}{' '}
              {one === 'pending' && count !== undefined ? (
                <span class="number count">{count.toLocaleString()}</span>
              ) : null}
            </button>
          ))}
        </div>
        <SearchField by="Search tool, agent, scope or arguments" {...field} />
        <Problem problem={pages.problem} />
        {pages.data === undefined ? (
          pages.problem === undefined ? (
            <Loading />
          ) : null
        ) : approvals.length === 0 ? (
          <Nothing status={status} isFiltered={search !== ''} hasMore={pages.hasMore} />
        ) : (
          <ul class="rows approvals" aria-label={status === 'pending' ? 'Open questions' : 'Decided questions'}>
            {approvals.map((one) => (
              <Row key={one.id} approval={one} isSelected={one.id === id} />
            ))}
          </ul>
        )}
        {pages.hasMore ? (
          <button type="button" class="more" onClick={pages.showMore}>
            Show more
          </button>
        ) : null}
      </div>
      <div class="detail">
        {id === undefined ? (
          approvals.length === 0 ? null : (
            <p class="quiet hint">
              Choose a question, or press <kbd>j</kbd>.
            </p>
          )
        ) : (
          <ApprovalView key={id} id={id} mode={mode} setMode={setMode} next={() => isStillAt(id) && move(1)} />
        )}
      </div>
    </div>
  );
}

/** The answer may come when whoever decided has gone on to something else: they are not taken away from it. */
function isStillAt(id: string): boolean {
  return route.value.page === 'approvals' && route.value.id === id;
}

function Row({ approval, isSelected }: { readonly approval: Approval; readonly isSelected: boolean }) {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (!isSelected) return;
    // Whoever walks through the list hears what they come to; whoever is in the question stays there.
    const isWalking = isFocusLost() || document.activeElement?.closest('.approvals') != null;
    if (isWalking) link.current?.focus({ preventScroll: true });
    link.current?.scrollIntoView({ block: 'nearest' });
  }, [isSelected]);
  const { id, status, agent, scope, because, asked, askedAt, expiresAt, endedAt, endedBy } = approval;
  return (
    <li>
      <a ref={link} class="row" href={hrefOf('approvals', id)} aria-current={isSelected ? 'true' : undefined}>
        <span class="what">
          <strong>{nameOfTool(approval)}</strong>
          <span class="why">
            {scope === null ? '' : `${partName(scope)} · `}
            {agent ?? 'an unnamed agent'} · {withoutName(because, nameOfTool(approval))}
          </span>
          <code class="line">{argumentsLine(approval, LINE)}</code>
        </span>
        <span class="when quiet number">
          {asked > 1 ? <span class="badge">×{asked.toLocaleString()}</span> : null}
          {status === 'pending' ? (
            <>
              <Ago at={askedAt} />
              <span>
                <Until at={expiresAt} passed="expiring" /> left
              </span>
            </>
          ) : (
            <>
              <span class={`end ${status}`}>{status}</span>
              <span>
                {endedBy === null ? '' : `${enderOf(approval)}, `}
                {endedAt === null ? '' : <Ago at={endedAt} />}
              </span>
            </>
          )}
        </span>
      </a>
    </li>
  );
}

interface NothingProps {
  readonly status: 'pending' | 'decided';
  readonly isFiltered: boolean;
  readonly hasMore: boolean;
}

function Nothing({ status, isFiltered, hasMore }: NothingProps) {
  if (isFiltered && hasMore) return <Empty title="None among those looked at.">There are more to look through.</Empty>;
  if (isFiltered) return <Empty title="No question is like that.">Search for less, or among the others.</Empty>;
  return status === 'pending' ? (
    <Empty title="Nothing waits for you.">
      A call that is held appears here by itself. What was decided is under “decided”; what needs no question any more,
      under <a href={hrefOf('grants')}>grants</a>.
    </Empty>
  ) : (
    <Empty title="Nothing has been decided yet.">Open questions are under “open”.</Empty>
  );
}
