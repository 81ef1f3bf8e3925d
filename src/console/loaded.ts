import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem } from './api.ts';
import { notLiveSince, onChange } from './live.ts';

export interface Loaded<T> {
  /** The last that was read, also while newer is on its way or cannot be had. */
  readonly data: T | undefined;
  readonly problem: ApiProblem | undefined;
  readonly reload: () => void;
}

const GATHER_MS = 300;
/** What nobody announces, such as successes of a trusted tool, is seen this much later; and all of it while not live. */
const SLOWLY_MS = { live: 30_000, notLive: 10_000 };

/** Reads, and reads again whenever something changed that concerns it. Changes in quick succession are one reading. */
export function useLoaded<T>(load: () => Promise<T>, name: string, concerns: (what: string) => boolean): Loaded<T> {
  const [loaded, setLoaded] = useState<{ name: string; data?: T; problem?: ApiProblem }>({ name });
  const current = useRef({ load, concerns, name });
  current.current = { load, concerns, name };
  const isLoading = useRef(false);
  const isStale = useRef(false);

  const reload = useCallback(() => {
    isStale.current = true;
    if (isLoading.current) return;
    isLoading.current = true;
    void (async () => {
      while (isStale.current) {
        isStale.current = false;
        const asked = current.current;
        try {
          const data = await asked.load();
          if (asked.name === current.current.name) setLoaded({ name: asked.name, data });
        } catch (error) {
          const problem = error instanceof ApiProblem ? error : new ApiProblem(-1, String(error));
          if (asked.name !== current.current.name) continue;
          setLoaded((before) => (before.name === asked.name ? { ...before, problem } : { name: asked.name, problem }));
        }
      }
      isLoading.current = false;
    })();
  }, []);

  useEffect(reload, [name]);
  useEffect(() => {
    let gathering: ReturnType<typeof setTimeout> | undefined;
    const stop = onChange((what) => {
      if (what !== undefined && !current.current.concerns(what)) return;
      gathering ??= setTimeout(() => {
        gathering = undefined;
        reload();
      }, GATHER_MS);
    });
    let readAt = Date.now();
    const slowly = setInterval(() => {
      const every = notLiveSince.value === undefined ? SLOWLY_MS.live : SLOWLY_MS.notLive;
      if (document.hidden || Date.now() - readAt < every) return;
      readAt = Date.now();
      reload();
    }, 2000);
    return () => {
      stop();
      clearTimeout(gathering);
      clearInterval(slowly);
    };
  }, []);

  const isOfThis = loaded.name === name;
  return { data: isOfThis ? loaded.data : undefined, problem: isOfThis ? loaded.problem : undefined, reload };
}
