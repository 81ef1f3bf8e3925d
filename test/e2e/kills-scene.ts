import { serverKey, toolKey } from '../../src/domain/key/tool-key.ts';
import type { Report } from '../../src/gate/index.ts';
import type { Random } from './kills-random.ts';

/** Long enough to be seen from outside, short enough that every tool passes through every state within a minute. */
const QUICK = {
  countThreshold: 3,
  windowSeconds: 6,
  escalationDurationSeconds: 1,
  cooldownSeconds: 1,
  successCountToRecover: 2,
  blockAfter: 6,
  blockAfterRelapses: 3,
  blockDurationSeconds: 2,
  reachability: { countThreshold: 2, windowSeconds: 5 },
};

/** A rule for each way of counting, and for each way out of distrust. */
export const RULES = {
  defaultRule: QUICK,
  toolRules: {
    shell: { ...QUICK, countThreshold: null, consecutiveThreshold: 3, windowSeconds: 2, securityBlocks: 'scope' },
    sampled: { ...QUICK, countThreshold: null, rateThreshold: 0.5, minSamples: 5, windowSeconds: 4 },
    witnessed: { ...QUICK, minReporters: 2 },
    manual: { ...QUICK, autoRecovery: false, blockAfter: null },
    lasting: { ...QUICK, escalationDurationSeconds: 3600, blockAfter: null },
    condemned: { ...QUICK, blockAfter: 2, blockDurationSeconds: null },
    // What was reported while nobody listened has left this window before it is read.
    'newcomer-*': { ...QUICK, windowSeconds: 1, blockAfter: null },
  },
  serverRules: { remote: { ...QUICK, blockAfter: null } },
};

/** Tools that a reset brings back now and then; everything else finds its way back, or not, by itself. */
export const RESET = ['condemned', 'manual', 'lasting'];

export const AGENTS = ['ann', 'bob', 'cid'];

interface Tool {
  readonly server?: string;
  readonly name: string;
  readonly calls: readonly unknown[];
  readonly failures: readonly (() => Partial<Report>)[];
}

const broken = () => ({ result: { error: 'it exploded', http_status: 500 } });
const crashed = () => ({ result: { exit_code: 139 } });
const notFound = () => ({ result: { error: 'no such thing', http_status: 404 } });
const refused = () => ({ result: { error: 'who are you?', http_status: 401 } });
const unreachable = () => ({ success: false, error: 'connect ECONNREFUSED 10.0.0.7:443' });
const unanswered = () => ({ outcome: 'unknown' as const });

const hosts = ['a', 'b', 'c'].map((name) => ({ url: `https://${name}.example.com/` }));

const TOOLS: readonly Tool[] = [
  { name: 'fetch', calls: hosts, failures: [broken, unreachable, notFound, refused] },
  {
    name: 'shell',
    calls: [{ command: 'git pull' }, { command: 'make' }, { command: 'sudo rm -rf /' }],
    failures: [crashed, broken],
  },
  { name: 'sampled', calls: [{}, ...hosts], failures: [broken, notFound, unanswered] },
  { name: 'witnessed', calls: [{}, { path: '/srv/data/a' }], failures: [broken] },
  { name: 'manual', calls: [{}], failures: [broken] },
  { name: 'lasting', calls: [{}, ...hosts], failures: [broken] },
  { name: 'condemned', calls: [{}], failures: [broken, crashed] },
  { server: 'remote', name: 'search', calls: [{}], failures: [unreachable, unreachable, broken] },
  { server: 'remote', name: 'write', calls: [{}, ...hosts], failures: [unreachable, unreachable, broken] },
];

export const KEYS = [serverKey('remote'), ...TOOLS.map(({ server = 'local', name }) => toolKey(server, name))];

/** What happens to all tools: each place (a tool and arguments) is well for a while, then ill for a while. */
export function createScene(random: Random) {
  const moods = new Map<string, { ill: boolean; until: number }>();
  const moodOf = (place: string, now: number) => {
    const known = moods.get(place);
    if (known !== undefined && known.until > now) return known;
    const mood = { ill: !(known?.ill ?? random.chance(0.5)), until: now + random.between(300, 2500) };
    moods.set(place, mood);
    return mood;
  };
  return {
    next(now: number): Report {
      const { name, server, calls, failures } = random.pick(TOOLS);
      const args = random.pick(calls);
      const { ill } = moodOf(JSON.stringify([server, name, args]), now);
      const failed = random.chance(ill ? 0.85 : 0.04);
      // Reports arrive late and in another order than things happened, and some say when the call began.
      const at = now - (random.chance(0.2) ? random.between(0, 800) : 0);
      return {
        tool: name,
        ...(server === undefined ? {} : { server }),
        args,
        at,
        ...(random.chance(0.3) ? { startedAt: at - random.between(0, 1500) } : {}),
        ...(failed ? random.pick(failures)() : { result: { data: 1 } }),
      };
    },
    /** A tool nobody has heard of, and it fails at once. */
    newcomer(number: number): Report[] {
      return Array.from({ length: 3 }, () => ({ tool: `newcomer-${number}`, args: {}, ...broken() }));
    },
  };
}
