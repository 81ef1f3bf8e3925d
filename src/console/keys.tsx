import { useLayoutEffect, useRef } from 'preact/hooks';

type Keys = Readonly<Record<string, () => unknown>>;

/** Single keys, while nobody is typing. Escape leaves a field, too. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  // As soon as it is drawn: whoever sees the page may press a key.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const { target } = event;
      const isTyping =
        target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
      if (isTyping && event.key !== 'Escape') return;
      // Enter on a link or a button is theirs.
      if (event.key === 'Enter' && target instanceof Element && target.closest('a, button') !== null) return;
      const act = Object.hasOwn(current.current, event.key) ? current.current[event.key] : undefined;
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

const HELP = [
  ['j, k', 'the next, the one before'],
  ['a', 'approve: choose what it grants, Enter gives it'],
  ['e', 'edit the arguments, then approve them'],
  ['d', 'deny, with a reason'],
  ['Enter', 'open the first'],
  ['Esc', 'close what is open'],
  ['?', 'this help'],
] as const;

export function KeyHelp() {
  return (
    <dl class="panel keys" aria-label="Keys">
      {HELP.map(([key, does]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  );
}
