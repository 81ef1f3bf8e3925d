import type { ComponentChildren } from 'preact';
import type { Part } from '../http/tool-shapes.ts';
import type { ApiProblem } from './api.ts';
import { clock, now, span } from './time.ts';

export type State = Part['state'];

/** A shape and a word besides the colour: nobody has to tell red from green. */
const MARK: Readonly<Record<State, string>> = { TRUSTED: '●', RECOVERING: '◐', ESCALATED: '▲', BLOCKED: '■' };

/** `ofScope`: what stands there is a tool, and this is said of one scope of it. */
export function StatePill({ state, ofScope = false }: { readonly state: State; readonly ofScope?: boolean }) {
  return (
    <span class={`pill ${state.toLowerCase()}`}>
      <span aria-hidden="true">{MARK[state]}</span> {ofScope && state !== 'TRUSTED' ? 'scope ' : ''}
      {state.toLowerCase()}
    </span>
  );
}

export function Until({ at, passed = 'any moment now' }: { readonly at: string; readonly passed?: string }) {
  const left = Date.parse(at) - now.value;
  return (
    <time class="number" dateTime={at} title={new Date(at).toString()}>
      {left > 0 ? span(left) : passed}
    </time>
  );
}

export function Ago({ at }: { readonly at: string }) {
  const gone = now.value - Date.parse(at);
  return (
    <time class="number" dateTime={at} title={new Date(at).toString()}>
      {gone < 5000 ? 'just now' : `${span(gone)} ago`}
    </time>
  );
}

export function For({ since }: { readonly since: string }) {
  return (
    <time class="number" dateTime={since} title={new Date(since).toString()}>
      for {span(now.value - Date.parse(since))}
    </time>
  );
}

export function At({ at }: { readonly at: string }) {
  return (
    <time class="number" dateTime={at} title={new Date(at).toString()}>
      {clock(at)}
    </time>
  );
}

/** What comes next for a part, in words; what counts down does so. */
export function Next({ part }: { readonly part: Part }) {
  switch (part.state) {
    case 'TRUSTED':
      return null;
    case 'ESCALATED':
      return part.until === null ? (
        <>an operator orders its recovery</>
      ) : (
        <>
          tried again in <Until at={part.until} />
        </>
      );
    case 'RECOVERING':
      return (
        <>
          {part.successes ?? 0} of {part.successesNeeded ?? 0} successes, one call at a time
        </>
      );
    case 'BLOCKED':
      return part.until === null ? (
        <>an operator resets {part.scope === null ? 'it' : 'the scope'}</>
      ) : (
        <>
          block ends in <Until at={part.until} />
        </>
      );
  }
}

export function Problem({
  problem,
  children,
}: {
  readonly problem: ApiProblem | undefined;
  readonly children?: ComponentChildren;
}) {
  if (problem === undefined) return null;
  return (
    <div class="notice bad" role="alert">
      {problem.message} {children}
    </div>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="lead">{title}</p>
      <p>{children}</p>
    </div>
  );
}

export function Loading() {
  return (
    <p class="quiet" role="status">
      Reading …
    </p>
  );
}

interface FormEnd {
  readonly label: string;
  /** While it is sent. */
  readonly busyLabel?: string;
  readonly isBusy: boolean;
  readonly isOff?: boolean;
  readonly isDanger?: boolean;
  readonly cancel: () => void;
}

/** How a form is sent, and left. */
export function FormButtons({ label, busyLabel = 'Sending …', isBusy, isOff, isDanger, cancel }: FormEnd) {
  return (
    <div class="buttons">
      <button type="submit" class={isDanger === true ? 'danger solid' : 'primary'} disabled={isBusy || isOff === true}>
        {isBusy ? busyLabel : label}
      </button>
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    </div>
  );
}
