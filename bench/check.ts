import { ConsecutiveBreaker, circuitBreaker, handleAll } from 'cockatiel';
import CircuitBreaker from 'opossum';
import { connect } from 'surety';
import type { Gate } from 'surety';
import { parseRules } from '../src/domain/rules/parse-rules.ts';
import type * as Gates from '../src/gate/tool-gate.ts';
import type * as Views from '../src/gate/view.ts';
import type { Standing } from '../src/postgres/snapshot.ts';
import type { TrustState } from '../src/domain/trust/trust.ts';
import { alternate, nanosecondsOf, nanosecondsOfAsync, row, shipped } from './measure.ts';
import type { Row } from './measure.ts';

const { ToolGate } = (await import(shipped('src/gate/tool-gate'))) as typeof Gates;
const { View } = (await import(shipped('src/gate/view'))) as typeof Views;

const TIMES = 10_000_000;
const IN_TURN = 1_000_000;
const IN_DOUBT = 20_000;
const EXCEPTIONS = 20_000;
const CHECKS = 50_000;
const MEMORY_ROUNDS = 5;

/** A tool without exception, beside breakers and a bare lookup; then every kind of exception. */
export async function check(): Promise<readonly Row[]> {
  process.env['SURETY_PERSIST'] = 'false';
  const [few, many, most] = [await gateKnowing(100), await gateKnowing(10_000), await gateKnowing(100_000)];
  const handle = toolsOf(10_000);
  const calls = Array.from({ length: 100_000 }, (_, i) => ({ tool: `tool${i}` }));
  const [someCalls, plain] = [calls.slice(0, 10_000), new Map(calls.map(({ tool }) => [tool, true]))];
  const opossum = new CircuitBreaker(() => Promise.resolve(1), { timeout: false });
  const opossumTimed = new CircuitBreaker(() => Promise.resolve(1));
  const cockatiel = circuitBreaker(handleAll, { halfOpenAfter: 1000, breaker: new ConsecutiveBreaker(5) });
  const work = () => Promise.resolve(1);
  const fired = 100_000;
  const seen = await alternate({
    few: () => nanosecondsOf(TIMES, () => few.check(HOT)),
    many: () => nanosecondsOf(TIMES, () => many.check(HOT)),
    most: () => nanosecondsOf(TIMES, () => most.check(HOT)),
    someInTurn: () => inTurn(someCalls, (call) => many.check(call)),
    allInTurn: () => inTurn(calls, (call) => most.check(call)),
    handle: () => nanosecondsOf(TIMES, handle),
    map: () => nanosecondsOf(TIMES, () => plain.get(HOT.tool)),
    mapSomeInTurn: () => inTurn(someCalls, ({ tool }) => plain.get(tool)),
    mapAllInTurn: () => inTurn(calls, ({ tool }) => plain.get(tool)),
    opossum: () => nanosecondsOfAsync(fired, () => opossum.fire()),
    opossumTimed: () => nanosecondsOfAsync(fired, () => opossumTimed.fire()),
    cockatiel: () => nanosecondsOfAsync(fired, () => cockatiel.execute(work)),
  });
  opossum.shutdown();
  opossumTimed.shutdown();
  const allocated = rounds(() => allocatedBy(CHECKS, () => many.check(HOT)));
  await Promise.all([few, many, most].map((gate) => gate.close()));
  return [
    ...Object.entries({ '100': seen.few, '10,000': seen.many, '100,000': seen.most }).flatMap(([known, ours]) => [
      row(`check, ${known} tools known / opossum fire, timeout off`, 'ns', ours, seen.opossum, { atMost: 0.1 }),
      row(`check, ${known} tools known / opossum fire, its default`, 'ns', ours, seen.opossumTimed, { atMost: 0.1 }),
      row(`check, ${known} tools known / cockatiel execute`, 'ns', ours, seen.cockatiel, { atMost: 0.2 }),
      row(`check, ${known} tools known / bare Map lookup`, 'ns', ours, seen.map),
    ]),
    // Nobody's cache holds them all: what a lookup costs then is told by the Map beside it.
    row('check, 10,000 tools in turn / a Map, in turn', 'ns', seen.someInTurn, seen.mapSomeInTurn),
    row('check, 100,000 tools in turn / a Map, in turn', 'ns', seen.allInTurn, seen.mapAllInTurn),
    row('check, 10,000 tools in turn / opossum fire, one breaker', 'ns', seen.someInTurn, seen.opossum),
    row('check by a handle that was kept / bare Map lookup', 'ns', seen.handle, seen.map),
    row('check: 10,000 tools / 100', 'ns', seen.many, seen.few, { atMost: 1.5 }),
    row('check: 100,000 tools / 100', 'ns', seen.most, seen.few, { atMost: 1.5 }),
    ...(await exceptions()),
    row('allocated per check', 'bytes', allocated),
    ...memory(),
  ];
}

const HOT = { tool: 'tool50' };

/** A gate that has met so many tools; none of them has anything held against it. */
async function gateKnowing(count: number): Promise<Gate> {
  const gate = await connect({ agent: 'bench' });
  for (let i = 0; i < count; i += 1) gate.check({ tool: `tool${i}` });
  return gate;
}

/** Nanoseconds for one of many that are used one after the other, over and over. */
function inTurn<T>(all: readonly T[], use: (one: T) => unknown): number {
  let at = 0;
  return nanosecondsOf(IN_TURN, () => {
    at = at + 1 === all.length ? 0 : at + 1;
    const one = all[at];
    return one === undefined ? undefined : use(one);
  });
}

/** Checks one hot tool by its handle while so many others are known. */
function toolsOf(count: number): () => unknown {
  const view = freshView();
  const tools = Array.from({ length: count }, (_, i) => new ToolGate(view, 'local', `tool${i}`, {}));
  for (const tool of tools) tool.check();
  const hot = tools[Math.floor(count / 2)];
  if (hot === undefined) throw new Error('no tools');
  return () => hot.check();
}

async function exceptions(): Promise<readonly Row[]> {
  const trusted: TrustState = { status: 'TRUSTED', tally: { consecutive: 1, failures: [Date.now()] } };
  const scopes = Array.from({ length: 999 }, (_, i) => [`host:h${i}.test`, trusted] as const);
  const scoped = viewWith('scoped', { ...Object.fromEntries(scopes), 'host:bad.test': escalated() });
  const blocked = viewWith('blocked', { '': { status: 'BLOCKED', tally: NO_TALLY, since: Date.now(), reason: 'x' } });
  const unknown = freshView({ toolRules: { '*': { risk: 'destructive' } } });
  const stale = freshView();
  stale.setSituation('stale');
  const [tool, wall, stranger, old] = [
    new ToolGate(scoped, 'local', 'scoped', {}),
    new ToolGate(blocked, 'local', 'blocked', {}),
    new ToolGate(unknown, 'local', 'stranger', {}),
    new ToolGate(stale, 'local', 'old', {}),
  ];
  const seen = await alternate({
    good: () => nanosecondsOf(IN_DOUBT, () => tool.check({ url: 'https://h5.test/x' })),
    bad: () => nanosecondsOf(IN_DOUBT, () => tool.check({ url: 'https://bad.test/x' })),
    blocked: () => nanosecondsOf(IN_DOUBT, () => wall.check()),
    unknown: () => nanosecondsOf(IN_DOUBT, () => stranger.check()),
    stale: () => nanosecondsOf(IN_DOUBT, () => old.check()),
  });
  return [
    row('check: trusted scope beside an escalated one', 'ns', seen.good),
    row('check: the escalated scope of 1,000', 'ns', seen.bad),
    row('check: blocked', 'ns', seen.blocked),
    row('check: unknown and destructive', 'ns', seen.unknown),
    row('check: stale', 'ns', seen.stale),
  ];
}

/** Of what a gate keeps: each exception it knows of, and each tool that it was asked about. */
function memory(): readonly Row[] {
  const kept: unknown[] = [];
  const perException = rounds(() => {
    const view = freshView();
    kept.push(view);
    return heapOf(() => {
      for (let i = 0; i < EXCEPTIONS; i += 1) view.take(standing(`tool${i}`, { '': escalated() }));
    });
  });
  const perTool = (known: (view: Views.View, name: string) => void) =>
    rounds(() => {
      const view = freshView();
      const tools: Gates.ToolGate[] = [];
      kept.push(tools);
      for (let i = 0; i < EXCEPTIONS; i += 1) known(view, `tool${i}`);
      return heapOf(() => {
        for (let i = 0; i < EXCEPTIONS; i += 1) {
          const tool = new ToolGate(view, 'local', `tool${i}`, {});
          tool.check();
          tools.push(tool);
        }
      });
    });
  const held = perTool((view, name) => view.take(standing(name, { '': escalated() })));
  const plain = perTool(() => undefined);
  // Read after the measurements, or what was measured might be collected before.
  if (kept.length !== 3 * MEMORY_ROUNDS) throw new Error('what was measured is gone');
  const each = (bytes: readonly number[]) => bytes.map((all) => all / EXCEPTIONS);
  return [
    row('memory per exception', 'bytes', each(perException), null, { atMost: 1024 }),
    row('memory per tool that was asked about and is held, besides', 'bytes', each(held)),
    row('memory per tool that was asked about and is not', 'bytes', each(plain)),
  ];
}

function rounds(measure: () => number): readonly number[] {
  return Array.from({ length: MEMORY_ROUNDS }, measure);
}

/** Bytes per call. So few calls that nothing is collected meanwhile: even a hundred bytes each leave room. */
function allocatedBy(calls: number, call: () => unknown): number {
  nanosecondsOf(TIMES, call);
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < calls; i += 1) call();
  return (process.memoryUsage().heapUsed - before) / calls;
}

function heapOf(work: () => void): number {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc');
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  work();
  globalThis.gc();
  return Math.max(0, process.memoryUsage().heapUsed - before);
}

const NO_TALLY = { consecutive: 0, failures: [] };

/** As the database driver would have parsed it: nothing is shared between two of them. */
function escalated(): TrustState {
  const at = Date.now();
  return {
    status: 'ESCALATED',
    tally: { consecutive: 3, failures: [at, at, at], lastFailureAt: at },
    since: at,
    reason: `3 failures in ${Math.round(at / at)} h`,
    episode: { at, version: 1 },
    lastFailureAt: at,
    failures: 0,
    relapses: [],
    recoverable: true,
  };
}

function standing(name: string, parts: Readonly<Record<string, TrustState>>): Standing {
  const key = `tool:local/${name}`;
  return { id: 1, key, kind: 'tool', server: 'local', name, version: 1, seq: 1, reason: 'x', dueAt: null, parts };
}

function freshView(rules: unknown = {}): Views.View {
  const view = new View(parseRules(rules));
  view.setSituation('fresh');
  return view;
}

function viewWith(name: string, parts: Readonly<Record<string, TrustState>>): Views.View {
  const view = freshView();
  view.take(standing(name, parts));
  return view;
}
