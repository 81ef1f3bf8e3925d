import { useRef, useState } from 'preact/hooks';
import { ApiProblem, newKey } from './api.ts';

/**
 * Sends one write at a time: a second click changes nothing. The same write that nobody answered goes again under the same
 * key, so that it is done once.
 */
export function useSending() {
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const isSending = useRef(false);
  const unanswered = useRef<{ readonly text: string; readonly key: string } | undefined>(undefined);

  function send<T>(body: T, sending: (body: T, key: string) => Promise<void>): void {
    if (isSending.current) return;
    isSending.current = true;
    setBusy(true);
    setProblem('');
    const text = JSON.stringify(body);
    const key = unanswered.current?.text === text ? unanswered.current.key : newKey();
    unanswered.current = { text, key };
    void sending(body, key)
      .catch((error: unknown) => {
        if (error instanceof ApiProblem && error.status !== 0) unanswered.current = undefined;
        setProblem(error instanceof Error ? error.message : String(error));
      })
      .finally(() => {
        isSending.current = false;
        setBusy(false);
      });
  }
  return { send, problem, isBusy };
}
