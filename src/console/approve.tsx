import type { ComponentChildren, RefObject } from 'preact';
import { useState } from 'preact/hooks';
import { coverage } from '../domain/approval/grant.ts';
import type { GrantTerms } from '../domain/approval/grant.ts';
import { hasLooseMask } from '../domain/approval/shown.ts';
import { partName } from '../domain/trust/part-view.ts';
import { REDACTED } from '../domain/outcome/secrets.ts';
import type { Approval } from '../http/shapes.ts';
import { Diff, pretty } from './diff-view.tsx';
import { now } from './time.ts';
import { nameOfTool } from './words.ts';

interface Approving {
  readonly form: RefObject<HTMLFormElement>;
  readonly approval: Approval;
  readonly isEdit: boolean;
  readonly isBusy: boolean;
  readonly cancel: () => void;
  readonly common: ComponentChildren;
  readonly approve: (more: { readonly grant: object; readonly edit?: unknown }) => void;
}

type Kind = GrantTerms['kind'];
type Covers = NonNullable<GrantTerms['covers']>;

/** What is given is said in words before it is. */
export function Approve({ form, approval, isEdit, isBusy, cancel, common, approve }: Approving) {
  const [kind, setKind] = useState<Kind>('once');
  const [covers, setCovers] = useState<Covers>('arguments');
  const [hours, setHours] = useState(8);
  const [text, setText] = useState(approval.arguments === null ? '{}' : pretty(approval.arguments));
  const edit = isEdit ? parsed(text, approval.arguments) : undefined;
  const terms: GrantTerms = {
    kind,
    ...(kind === 'until' ? { until: Math.floor((now.value + hours * 3_600_000) / 60_000) * 60_000 } : {}),
    ...(kind === 'once' ? {} : { covers }),
  };
  const words = coverage(terms, nameOfTool(approval), approval.scope);
  const submit = (event: Event) => {
    event.preventDefault();
    if (isEdit && edit?.complaint !== '') return;
    const grant = {
      kind,
      ...(kind === 'until' ? { seconds: hours * 3600 } : {}),
      ...(kind === 'once' ? {} : { covers }),
    };
    approve({ grant, ...(isEdit ? { edit: edit?.value } : {}) });
  };
  const isUnshown = approval.arguments === null && !isEdit;
  return (
    <form ref={form} class="panel" aria-label="Approve" onSubmit={submit}>
      {isEdit ? (
        <>
          <label>
            Arguments to run instead, as JSON
            <textarea
              data-first=""
              class="code"
              rows={Math.min(16, text.split('\n').length + 1)}
              spellcheck={false}
              value={text}
              aria-invalid={edit?.complaint !== ''}
              aria-describedby="edit-complaint"
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <p id="edit-complaint" class={edit?.complaint === '' ? 'unseen' : 'notice bad'} role="alert">
            {edit?.complaint}
          </p>
          {edit?.complaint === '' && approval.arguments !== null ? (
            <Diff before={approval.arguments} after={edit.value} />
          ) : null}
        </>
      ) : null}
      <Choice
        title="For how long"
        value={kind}
        choose={setKind}
        options={[
          ['once', 'this call only', false],
          ['session', 'the session', approval.session === null],
          ['until', 'until a time', false],
          ['always', 'always', false],
        ]}
      />
      {kind === 'until' ? (
        <label>
          For
          <select value={hours} onChange={(event) => setHours(Number(event.currentTarget.value))}>
            <option value={1}>1 hour</option>
            <option value={8}>8 hours</option>
            <option value={24}>1 day</option>
            <option value={168}>7 days</option>
          </select>
        </label>
      ) : null}
      {kind === 'once' ? null : (
        <Choice
          title="For which calls"
          value={covers}
          choose={setCovers}
          options={[
            ['arguments', 'the same arguments', false],
            ['scope', approval.scope === null ? 'the same scope' : partName(approval.scope), approval.scope === null],
            ['tool', 'any call of the tool', false],
          ]}
        />
      )}
      <p class="grants" aria-live="polite">
        {approval.agent ?? 'The agent'} may run <strong>{isEdit ? words.replace('these', 'the edited') : words}</strong>
        .
      </p>
      {common}
      <div class="buttons">
        <button type="submit" class="primary" disabled={isBusy || isUnshown || (isEdit && edit?.complaint !== '')}>
          {isBusy ? 'Sending …' : isEdit ? 'Approve the edit' : 'Approve'}
        </button>
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function Choice<T extends string>(props: {
  readonly title: string;
  readonly value: T;
  readonly choose: (value: T) => void;
  readonly options: readonly (readonly [T, string, boolean])[];
}) {
  return (
    <fieldset>
      <legend>{props.title}</legend>
      {props.options.map(([value, title, isOff]) => (
        <label key={value} class="option">
          <input
            type="radio"
            name={props.title}
            checked={props.value === value}
            disabled={isOff}
            onChange={() => props.choose(value)}
          />
          {title}
        </label>
      ))}
    </fieldset>
  );
}

function parsed(text: string, shown: unknown): { readonly value: unknown; readonly complaint: string } {
  try {
    const value: unknown = JSON.parse(text);
    const complaint = `${REDACTED} would run as it is written. Leave what is masked where it was, or put in what is meant.`;
    return { value, complaint: hasLooseMask(value, shown) ? complaint : '' };
  } catch (error) {
    return { value: undefined, complaint: `This is no JSON yet: ${error instanceof Error ? error.message : ''}` };
  }
}
