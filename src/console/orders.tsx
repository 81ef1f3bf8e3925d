import { useRef, useState } from 'preact/hooks';
import type { ToolPage } from '../http/tool.ts';
import { write } from './api.ts';
import { useFocusWhileOpen } from './focus.ts';
import { say } from './toast.tsx';
import { FormButtons } from './parts.tsx';
import { useSending } from './sending.ts';

type Order = 'reset' | 'recover' | 'block';

const MEANS: Readonly<Record<Order, string>> = {
  reset: 'Trust it again. No failure before this moment counts any more.',
  recover: 'End the escalation: one call at a time is tried, and successes restore trust.',
  block: 'Deny every call until somebody resets it. Whoever is denied reads the reason. Grants of it end.',
};

/** What an operator can do to a tool: chosen, explained, confirmed with a reason. */
export function Orders({ tool, done }: { readonly tool: ToolPage; readonly done: () => void }) {
  const [order, setOrder] = useState<Order | undefined>(undefined);
  const isEscalated = tool.parts.some(({ state }) => state === 'ESCALATED');
  const offered: readonly Order[] = [
    ...(isEscalated ? (['recover'] as const) : []),
    ...(tool.partsInDoubt > 0 ? (['reset'] as const) : []),
    'block',
  ];
  return (
    <div class="orders">
      <div class="buttons">
        {offered.map((one) => (
          <button
            key={one}
            type="button"
            class={one === 'block' ? 'danger' : ''}
            aria-expanded={order === one}
            onClick={() => setOrder(order === one ? undefined : one)}
          >
            {one[0]?.toUpperCase()}
            {one.slice(1)} …
          </button>
        ))}
      </div>
      {order === undefined ? null : (
        <OrderForm
          key={order}
          tool={tool}
          order={order}
          close={() => {
            setOrder(undefined);
            done();
          }}
        />
      )}
    </div>
  );
}

function OrderForm({
  tool,
  order,
  close,
}: {
  readonly tool: ToolPage;
  readonly order: Order;
  readonly close: () => void;
}) {
  const [reason, setReason] = useState('');
  const [scope, setScope] = useState('');
  const { send, problem, isBusy } = useSending();
  const form = useRef<HTMLFormElement>(null);
  useFocusWhileOpen(form, 'input');
  const scopes = [...new Set(tool.parts.map((part) => part.scope).filter((one) => one !== null))];
  const submit = (event: Event) => {
    event.preventDefault();
    send({ reason, ...(scope === '' ? {} : { scope }) }, async (body, key) => {
      const path = `/v1/tools/${encodeURIComponent(tool.key)}/${order}`;
      const { outcome, state } = await write<{ outcome: string; state: string }>('POST', path, body, key);
      say(
        outcome === 'applied'
          ? `${tool.title} is ${state.toLowerCase()}.`
          : 'Recorded; applied as soon as a worker runs.',
      );
      close();
    });
  };
  return (
    <form
      ref={form}
      class="panel"
      aria-label={order}
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && close()}
    >
      <p>{MEANS[order]}</p>
      {scopes.length === 0 ? null : (
        <label>
          What it reaches
          <select value={scope} onChange={(event) => setScope(event.currentTarget.value)}>
            <option value="">everything of {tool.title}</option>
            {scopes.map((one) => (
              <option key={one} value={one}>
                only {one}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        Reason {order === 'block' ? '' : '(optional)'}
        <input
          value={reason}
          maxLength={300}
          required={order === 'block'}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
      {problem === '' ? null : (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
      <FormButtons
        label={`${order[0]?.toUpperCase() ?? ''}${order.slice(1)} ${tool.title}`}
        busyLabel="Ordering …"
        isBusy={isBusy}
        isDanger={order === 'block'}
        cancel={close}
      />
    </form>
  );
}
