import { signal } from '@preact/signals';

const said = signal<{ readonly text: string; readonly at: number } | undefined>(undefined);
const SHOWN_MS = 6000;

/** Tells what came of something, to eyes and screen readers alike. */
export function say(text: string): void {
  const at = Date.now();
  said.value = { text, at };
  setTimeout(() => {
    if (said.value?.at === at) said.value = undefined;
  }, SHOWN_MS);
}

export function Toast() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {said.value === undefined ? null : <p class="toast">{said.value.text}</p>}
    </div>
  );
}
