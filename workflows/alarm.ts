import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';

export interface Due {
  readonly at: number;
  /** What ends then, for the operator who reads the timeline. */
  readonly what: string;
}

/** One durable timer per deadline, kept across wake-ups: re-arming it for every signal would double the history. */
export function createAlarm() {
  let armed: { at: number; scope: CancellationScope } | undefined;
  let rang = false;
  return {
    ringing: () => rang,
    silence: () => {
      rang = false;
    },
    /** `now` is the ledger's clock. If that one is slower than Temporal's the alarm rings early and is simply set again. */
    set: (due: Due | undefined, now: number) => {
      if (armed?.at === due?.at) return;
      armed?.scope.cancel();
      armed = undefined;
      if (due === undefined) return;
      const scope = new CancellationScope();
      const mine = { at: due.at, scope };
      armed = mine;
      scope
        .run(() => sleep(Math.max(1, due.at - now), { summary: due.what }))
        .then(() => {
          if (armed === mine) [armed, rang] = [undefined, true];
        })
        .catch((error: unknown) => {
          if (!isCancellation(error)) throw error;
        });
    },
  };
}
