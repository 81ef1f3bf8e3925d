import { useRef, useState } from 'preact/hooks';
import { coverage } from '../domain/approval/grant.ts';
import type { GrantsPage } from '../http/grants.ts';
import type { Grant } from '../http/shapes.ts';
import { serverNow, write } from './api.ts';
import { focusContent, useFocusWhileOpen } from './focus.ts';
import { usePages } from './pages.ts';
import { Ago, At, Empty, Loading, Problem } from './parts.tsx';
import { useSending } from './sending.ts';
import { whenOf } from './time.ts';
import { say } from './toast.tsx';
import { nameOfTool } from './words.ts';

const PAGE = 100;
const concerns = (what: string) => what.startsWith('grants:') || what.startsWith('approval:');

/** What later calls may do without asking. */
export function Grants() {
  const [all, setAll] = useState(false);
  const {
    data: pages,
    problem,
    reload,
    hasMore,
    showMore,
  } = usePages<GrantsPage>(`/v1/grants?limit=${PAGE}&all=${String(all)}`, concerns);
  const data = pages?.flatMap(({ grants }) => grants);
  return (
    <>
      <h1>Grants</h1>
      <Problem problem={problem} />
      <div class="filters" role="group" aria-label="Which grants">
        {[false, true].map((one) => (
          <button key={String(one)} type="button" class="filter" aria-pressed={all === one} onClick={() => setAll(one)}>
            {one ? 'all' : 'in force'}
          </button>
        ))}
      </div>
      {data === undefined ? (
        problem === undefined ? (
          <Loading />
        ) : null
      ) : data.length === 0 ? (
        <Empty title="Nothing is granted.">
          An approval can leave a grant behind: for the session, until a time, or always. Choose so when you approve.
        </Empty>
      ) : (
        <ul class="rows" aria-label="Grants">
          {data.map((grant) => (
            <Row key={grant.id} grant={grant} done={reload} />
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

function Row({ grant, done }: { readonly grant: Grant; readonly done: () => void }) {
  const [isAsked, setAsked] = useState(false);
  const { send, problem, isBusy } = useSending();
  const { kind, covers, pattern, until, agent, session, givenAt, givenBy, revokedAt, revokedBy, consumedAt } = grant;
  const terms = {
    ...{ kind, covers },
    ...(pattern === null ? {} : { pattern }),
    ...(until === null ? {} : { until: Date.parse(until) }),
  };
  const isOver = revokedAt !== null || consumedAt !== null || (until !== null && Date.parse(until) < serverNow());
  const revoke = () =>
    send({ reason: '' }, async (body, key) => {
      await write('POST', `/v1/grants/${grant.id}/revoke`, body, key);
      say(`Revoked the grant of ${nameOfTool(grant)}.`);
      focusContent();
      done();
    });
  return (
    <li class="row grant">
      <span class="what">
        <strong>{coverage(terms, nameOfTool(grant), grant.scope, whenOf)}</strong>
        <span class="why">
          to {agent ?? 'an unnamed agent'}
          {session === null ? '' : `, session ${session}`}; given {givenBy === null ? '' : `by ${givenBy} `}
          <Ago at={givenAt} />
          {consumedAt === null ? null : (
            <>
              ; used <At at={consumedAt} />
            </>
          )}
          {revokedAt === null ? null : (
            <>
              ; revoked by {revokedBy ?? 'surety'} <At at={revokedAt} />
            </>
          )}
        </span>
        {problem === '' ? null : (
          <span class="notice bad" role="alert">
            {problem}
          </span>
        )}
      </span>
      {isOver ? (
        <span class="quiet">over</span>
      ) : (
        <span class="buttons">
          <button type="button" aria-expanded={isAsked} onClick={() => setAsked(!isAsked)}>
            Revoke …
          </button>
          {isAsked ? <Confirm isBusy={isBusy} revoke={revoke} keep={() => setAsked(false)} /> : null}
        </span>
      )}
    </li>
  );
}

function Confirm(props: { readonly isBusy: boolean; readonly revoke: () => void; readonly keep: () => void }) {
  const buttons = useRef<HTMLSpanElement>(null);
  useFocusWhileOpen(buttons, 'button');
  return (
    <span ref={buttons} class="buttons" onKeyDown={(event) => event.key === 'Escape' && props.keep()}>
      <button type="button" class="danger solid" disabled={props.isBusy} onClick={props.revoke}>
        {props.isBusy ? 'Revoking …' : 'Revoke it'}
      </button>
      <button type="button" onClick={props.keep}>
        Keep
      </button>
    </span>
  );
}
