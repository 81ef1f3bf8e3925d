import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Scene } from './run-in-bash.ts';

/** No machine of ours sleeps so long for another reason. */
const SLEEP = '54321.125';

describe('what the generator makes cannot take the machine down', () => {
  const scene = new Scene(['sudo'], []);
  afterAll(() => {
    scene.close();
  });

  it.skipIf(scene.confinement.length === 0)('nothing is left of a command that has got away', () => {
    scene.run(
      new Map([
        [1, `setsid nohup sleep ${SLEEP} & sudo id`],
        [2, `(trap '' TERM HUP; sleep ${SLEEP} & disown) & disown; true`],
      ]),
    );
    expect(scene.whatRan()).toEqual(new Map([[1, 'sudo']]));
    expect(running()).toEqual([]);
  });

  it.skipIf(scene.confinement.length === 0)('nor can it have more processes than its share', () => {
    scene.run(new Map([[3, `for i in {1..900}; do sleep ${SLEEP} & echo $i > count; done 2>/dev/null`]]));
    expect(Number(readFileSync(`${scene.root}/work-3/count`, 'utf8'))).toBeLessThan(500);
    expect(running()).toEqual([]);
  });
});

function running(): readonly string[] {
  return readdirSync('/proc').filter((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      return readFileSync(`/proc/${entry}/cmdline`, 'utf8').includes(SLEEP);
    } catch {
      return false;
    }
  });
}
