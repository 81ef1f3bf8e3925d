import type { ComponentChildren, RefObject } from 'preact';
import { useState } from 'preact/hooks';
import { inexactNumber } from '../domain/outcome/exact-number.ts';
import { KEEP_ITS_FORM, otherKind } from '../domain/approval/edited-kind.ts';
import { ANY_MASK, hasLooseMask } from '../domain/approval/loose-mask.ts';
import type { Approval } from '../http/shapes.ts';
import { Diff } from './diff-view.tsx';
import { ChooseGrant, useGrantChoice } from './grant-choice.tsx';
import { FormButtons } from './parts.tsx';
import { pretty } from './visible.ts';

interface Approving {
  readonly form: RefObject<HTMLFormElement>;
  readonly approval: Approval;
  readonly isEdit: boolean;
  readonly isBusy: boolean;
  /** Not to be decided as it stands. */
  readonly isOff: boolean;
  readonly cancel: () => void;
  readonly common: ComponentChildren;
  readonly approve: (more: { readonly grant: object; readonly edit?: unknown }) => void;
}

/** What is given is said in words before it is. */
export function Approve({ form, approval, isEdit, isBusy, isOff, cancel, common, approve }: Approving) {
  const choice = useGrantChoice(approval);
  const [text, setText] = useState(approval.arguments === null ? '{}' : pretty(approval.arguments));
  const edit = isEdit ? parsed(text, approval.arguments) : undefined;
  const words = isEdit ? choice.words.replace('these', 'the edited') : choice.words;
  const isUnshown = approval.arguments === null && !isEdit;
  const isReady = !isUnshown && choice.complaint === '' && (edit?.complaint ?? '') === '';
  const submit = (event: Event) => {
    event.preventDefault();
    if (isReady) approve({ grant: choice.grant, ...(isEdit ? { edit: edit?.value } : {}) });
  };
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
      <ChooseGrant approval={approval} choice={choice} isEdit={isEdit} />
      <p class="grants" aria-live="polite">
        {approval.agent ?? 'The agent'} may run <strong>{words}</strong>.
      </p>
      {common}
      <FormButtons
        label={isEdit ? 'Approve the edit' : 'Approve'}
        isBusy={isBusy}
        isOff={isOff || !isReady}
        cancel={cancel}
      />
    </form>
  );
}

function parsed(text: string, shown: unknown): { readonly value: unknown; readonly complaint: string } {
  try {
    const value: unknown = JSON.parse(text);
    const inexact = inexactNumber(text);
    if (inexact !== undefined) return { value, complaint: `${inexact} cannot be kept exactly: write it as text.` };
    const kind = otherKind(value, shown);
    if (kind !== undefined) return { value, complaint: `${kind} ${KEEP_ITS_FORM}` };
    const complaint = `${ANY_MASK} would run as it is written. Leave what is masked where it was, or put in what is meant.`;
    return { value, complaint: hasLooseMask(value, shown) ? complaint : '' };
  } catch (error) {
    return { value: undefined, complaint: `This is no JSON yet: ${error instanceof Error ? error.message : ''}` };
  }
}
