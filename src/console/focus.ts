import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/**
 * What opens takes the focus, before the next key is pressed: that key is meant for it. What closes gives it back to whatever
 * opened it, so that nobody who has no mouse begins again at the top.
 */
export function useFocusWhileOpen(opened: RefObject<HTMLElement>, first: string): void {
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const inside = opened.current;
    inside?.querySelector<HTMLElement>(first)?.focus();
    inside?.scrollIntoView({ block: 'nearest' });
    return () => {
      const isInside = inside?.contains(document.activeElement) === true;
      if ((isInside || isFocusLost()) && opener instanceof HTMLElement) opener.focus();
    };
  }, []);
}

/** Whatever had it is gone. */
export function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

export function focusContent(): void {
  document.getElementById('content')?.focus();
}
