import { useRef, useState } from 'preact/hooks';
import type { Approval } from '../http/shapes.ts';
import { write } from './api.ts';
import { Approve } from './approve.tsx';
import { useFocusWhileOpen } from './focus.ts';
import { FormButtons } from './parts.tsx';
import { useSending } from './sending.ts';
import { say } from './toast.tsx';
import { nameOfTool } from './words.ts';

export type Mode = 'approve' | 'edit' | 'deny' | 'extend' | undefined;

interface Deciding {
  readonly approval: Approval;
  readonly mode: Mode;
  readonly setMode: (mode: Mode) => void;
  readonly reload: () => void;
  readonly next: () => void;
}

const BUTTONS = [
  ['approve', 'Approve …', 'a', 'primary'],
  ['edit', 'Edit …', 'e', ''],
  ['deny', 'Deny …', 'd', 'danger'],
  ['extend', 'Extend …', '', ''],
] as const;

export function Decide(props: Deciding) {
  const { approval, mode, setMode } = props;
  return (
    <div class="decide">
      <div class="buttons" hidden={approval.status !== 'pending'}>
        {BUTTONS.map(([name, title, key, look]) => (
          <button
            key={name}
            type="button"
            class={look}
            aria-expanded={mode === name}
            onClick={() => setMode(mode === name ? undefined : name)}
          >
            {title} {key === '' ? null : <kbd aria-hidden="true">{key}</kbd>}
          </button>
        ))}
      </div>
      {mode === undefined ? null : <DecideForm key={`${approval.id} ${mode}`} {...props} mode={mode} />}
    </div>
  );
}

const DONE = { approve: 'Approved', deny: 'Denied', extend: 'Kept open' } as const;

function DecideForm({ approval, mode, setMode, reload, next }: Deciding & { readonly mode: Exclude<Mode, undefined> }) {
  // What was shown when this was opened is what is decided about.
  const [seen, setSeen] = useState(approval.version);
  const [reason, setReason] = useState('');
  const [hours, setHours] = useState(8);
  const { send, problem, isBusy } = useSending();
  const isOver = approval.status !== 'pending';
  const isMoved = !isOver && seen !== approval.version;
  const verb = mode === 'edit' ? 'approve' : mode;
  const sendDecision = (more: object) => {
    if (isMoved || isOver) return;
    send({ reason, expectedVersion: seen, ...more }, async (body, key) => {
      const path = `/v1/approvals/${approval.id}/${verb}`;
      try {
        const { outcome } = await write<{ outcome: string }>('POST', path, body, key);
        const isLate = outcome === 'recorded' ? '; a worker applies it as soon as one runs' : '';
        say(`${DONE[verb]}: ${nameOfTool(approval)}${isLate}.`);
        setMode(undefined);
        if (verb !== 'extend') next();
      } finally {
        reload();
      }
    });
  };
  const form = useRef<HTMLFormElement>(null);
  useFocusWhileOpen(form, mode === 'approve' ? 'button[type=submit]' : '[data-first]');
  const common = (
    <>
      <label>
        Reason {mode === 'deny' ? '(the agent reads it)' : '(optional)'}
        <input
          data-first={mode === 'deny' ? '' : undefined}
          value={reason}
          maxLength={500}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
      {isMoved ? (
        <p class="notice bad" role="alert">
          This question has changed since you opened this: it was extended, somebody agreed, or others were asked. Look
          at it again before you decide.{' '}
          <button type="button" onClick={() => setSeen(approval.version)}>
            I have looked
          </button>
        </p>
      ) : null}
      {isOver && !isBusy ? (
        <p class="notice bad" role="alert">
          It is over: {approval.status}
          {approval.endedBy === null ? '' : ` by ${approval.endedBy}`} while you were at it. Nothing more can be
          decided.
        </p>
      ) : null}
      {problem === '' || isOver ? null : (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
    </>
  );
  const cancel = () => setMode(undefined);
  if (mode === 'approve' || mode === 'edit') {
    return (
      <Approve
        {...{
          form,
          approval,
          isEdit: mode === 'edit',
          isBusy,
          isOff: isMoved || isOver,
          cancel,
          common,
          approve: sendDecision,
        }}
      />
    );
  }
  const submit = (event: Event) => {
    event.preventDefault();
    sendDecision(mode === 'extend' ? { seconds: hours * 3600 } : {});
  };
  return (
    <form ref={form} class="panel" aria-label={mode === 'deny' ? 'Deny' : 'Extend'} onSubmit={submit}>
      {mode === 'deny' ? (
        <p>The call is refused, and so is the same call for as long as the rule lets a denial hold.</p>
      ) : (
        <label>
          Keep it open for
          <select data-first="" value={hours} onChange={(event) => setHours(Number(event.currentTarget.value))}>
            <option value={1}>1 hour more</option>
            <option value={8}>8 hours more</option>
            <option value={24}>1 day more</option>
            <option value={168}>7 days more</option>
          </select>
        </label>
      )}
      {common}
      <FormButtons
        label={mode === 'deny' ? 'Deny' : 'Extend'}
        isBusy={isBusy}
        isOff={isMoved || isOver}
        isDanger={mode === 'deny'}
        cancel={cancel}
      />
    </form>
  );
}
