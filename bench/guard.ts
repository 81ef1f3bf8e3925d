import { setTimeout as sleep } from 'node:timers/promises';
import { ConsecutiveBreaker, circuitBreaker, handleAll } from 'cockatiel';
import CircuitBreaker from 'opossum';
import { connect } from 'surety';
import { alternate, nanosecondsOfAsync, row } from './measure.ts';
import type { Row } from './measure.ts';

/** Fewer than the buffer holds, with a quarter to warm up: a burst costs its caller this, and is sent while the caller does something else. */
const BURST = 6000;

/** The whole wrapper around an async function that does nothing: check, call, enqueue the report. */
export async function guard(): Promise<readonly Row[]> {
  process.env['SURETY_PERSIST'] = 'false';
  const gate = await connect({ agent: 'bench' });
  const work = () => Promise.resolve(1);
  const guarded = gate.guard('noop', work);
  const withUrl = gate.guard('http_request', (_: { url: string }) => Promise.resolve(1));
  const opossum = new CircuitBreaker(work, { timeout: false });
  const cockatiel = circuitBreaker(handleAll, { halfOpenAfter: 1000, breaker: new ConsecutiveBreaker(5) });
  const args = {};
  const url = { url: 'https://api.example.com/data' };
  const drained = async (took: number) => {
    while (gate.pressure.waiting > 0) await sleep(5);
    return took;
  };
  const sides = {
    ours: async () => drained(await nanosecondsOfAsync(BURST, () => guarded(args))),
    url: async () => drained(await nanosecondsOfAsync(BURST, () => withUrl(url))),
    opossum: () => nanosecondsOfAsync(BURST, () => opossum.fire()),
    cockatiel: () => nanosecondsOfAsync(BURST, () => cockatiel.execute(work)),
  };
  await alternate(sides, 5);
  const seen = await alternate(sides, 15);
  opossum.shutdown();
  await gate.close();
  return [
    row('guard / opossum fire', 'ns', seen.ours, seen.opossum, { atMost: 1 }),
    row('guard / cockatiel execute', 'ns', seen.ours, seen.cockatiel),
    row('guard with a URL to read / opossum fire', 'ns', seen.url, seen.opossum),
  ];
}
