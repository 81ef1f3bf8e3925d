import { useEffect, useRef } from 'preact/hooks';
import type { Approval } from '../http/shapes.ts';
import { coverage } from '../domain/approval/grant.ts';
import type { GrantTerms } from '../domain/approval/grant.ts';
import { ANY_MASK, hasMask } from '../domain/approval/loose-mask.ts';
import { enderOf } from '../domain/approval/person.ts';
import { partName } from '../domain/trust/part-view.ts';
import { toolKey } from '../domain/key/tool-key.ts';
import { read } from './api.ts';
import { Decide } from './decide.tsx';
import type { Mode } from './decide.tsx';
import { Diff } from './diff-view.tsx';
import { isFocusLost } from './focus.ts';
import { mayDecide } from './frame.tsx';
import { useLoaded } from './loaded.ts';
import { Ago, At, Empty, Loading, Problem, StatePill, Until } from './parts.tsx';
import type { State } from './parts.tsx';
import { hrefOf } from './route.ts';
import { whenOf } from './time.ts';
import { pretty } from './visible.ts';
import { nameOfTool } from './words.ts';

interface Shown {
  readonly id: string;
  readonly mode: Mode;
  readonly setMode: (mode: Mode) => void;
  /** What to look at once this one is decided. */
  readonly next: () => void;
}

export function ApprovalView({ id, mode, setMode, next }: Shown) {
  const { data, problem, reload } = useLoaded(
    () => read<Approval>(`/v1/approvals/${encodeURIComponent(id)}`),
    id,
    (what) => what === `approval:${id}`,
  );
  const article = useRef<HTMLElement>(null);
  // What had the focus may go with any change: a form, or the row of a question that is over.
  useEffect(() => {
    if (isFocusLost()) article.current?.focus({ preventScroll: true });
  });
  // A form that somebody is typing into stays when the question ends: the next letters are meant for it, and not for the page.
  const wasOpen = useRef(false);
  wasOpen.current = mode !== undefined && (wasOpen.current || data?.status === 'pending');
  return (
    <article ref={article} tabIndex={-1} aria-label="The question">
      <p class="back">
        <a href={hrefOf('approvals')}>← Approvals</a>
      </p>
      {problem !== undefined && [400, 404].includes(problem.status) ? (
        <Empty title="No such question.">It was pruned, or the link is wrong. The list has those that are open.</Empty>
      ) : (
        <Problem problem={problem} />
      )}
      {data === undefined ? (
        problem === undefined ? (
          <Loading />
        ) : null
      ) : (
        <>
          <Question approval={data} />
          {data.status === 'pending' ? null : <End approval={data} />}
          {mayDecide() && (data.status === 'pending' || wasOpen.current) ? (
            <Decide approval={data} mode={mode} setMode={setMode} reload={reload} next={next} />
          ) : null}
          {!mayDecide() && data.status === 'pending' ? (
            <p class="notice">You can look; deciding takes a token with the role approver.</p>
          ) : null}
        </>
      )}
    </article>
  );
}

function Question({ approval }: { readonly approval: Approval }) {
  const { state, because, agent, session, scope, risk, asked, askedAt, isSecurity, server, tool } = approval;
  return (
    <>
      <div class="head">
        <h2>
          <a href={hrefOf('tools', toolKey(server, tool))}>{nameOfTool(approval)}</a>
        </h2>
        {state === null ? null : <StatePill state={state as State} />}
        {isSecurity ? <span class="pill blocked">security</span> : null}
      </div>
      <p class="lead">{because}</p>
      <dl class="facts">
        <Fact name="Agent">{agent ?? 'unnamed'}</Fact>
        {session === null ? null : <Fact name="Session">{session}</Fact>}
        {scope === null ? null : <Fact name="Scope">{partName(scope)}</Fact>}
        <Fact name="Risk">{risk}</Fact>
        <Fact name="Asked">
          <Ago at={askedAt} />
          {asked === 1 ? '' : `, ${asked.toLocaleString()} times since`}
        </Fact>
        {approval.status === 'pending' ? <Ladder approval={approval} /> : null}
      </dl>
      <h3>{approval.status === 'pending' ? 'What will run' : 'What was asked'}</h3>
      {approval.arguments === null ? (
        <p class="notice">Its arguments are too large to be shown, or no JSON. Edit them, or deny it.</p>
      ) : (
        <pre class="code" tabIndex={0} aria-label="Arguments">
          {pretty(approval.arguments)}
        </pre>
      )}
      {hasMask(approval.arguments) ? (
        <p class="quiet small">
          {ANY_MASK} stands for a credential, each with its own letters and digits. It runs as it was asked.
        </p>
      ) : null}
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** What time does meanwhile, who is asked, and who has agreed. */
function Ladder({ approval }: { readonly approval: Approval }) {
  const { next, expiresAt, approvers, nextApprovers, consents, consentsNeeded } = approval;
  return (
    <>
      <Fact name="Expires">
        in <Until at={expiresAt} passed="no time" />
      </Fact>
      {approvers.length === 0 ? null : <Fact name="Asked of">{approvers.join(', ')}</Fact>}
      {next === null || next.what === 'expire' ? null : (
        <Fact name="Next">
          {next.what === 'remind' ? 'a reminder' : `${nextApprovers.join(', ')} asked, too`} in <Until at={next.at} />
        </Fact>
      )}
      {consentsNeeded < 2 ? null : (
        <Fact name="Two must agree">
          {consents.length === 0 ? 'nobody has yet' : `${consents.join(', ')} has; one more`}
        </Fact>
      )}
    </>
  );
}

function End({ approval }: { readonly approval: Approval }) {
  const { status, endedAt, endedBy, endReason, edited, grant } = approval;
  const terms = grant as (GrantTerms & { readonly consumedBy: string | null }) | null;
  return (
    <>
      <p class={`notice end ${status}`}>
        <strong>{status}</strong>
        {endedBy === null ? '' : ` by ${enderOf(approval)}`}
        {endedAt === null ? null : (
          <>
            {' at '}
            <At at={endedAt} />
          </>
        )}
        {endReason === null || endReason === '' ? '' : `: ${endReason}`}
      </p>
      {terms === null ? null : (
        <p>
          Granted {coverage(terms, nameOfTool(approval), approval.scope, whenOf)}
          {terms.consumedBy === null ? '' : '; it was used'}.
        </p>
      )}
      {edited === null ? null : (
        <>
          <h3>Edited</h3>
          <Diff before={approval.arguments} after={edited.arguments} />
        </>
      )}
    </>
  );
}
