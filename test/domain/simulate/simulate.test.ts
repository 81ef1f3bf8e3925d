import { describe, expect, test } from 'vitest';
import { parseRules } from '../../../src/domain/rules/parse-rules.ts';
import { SimulatedEvent } from '../../../src/domain/simulate/events.schema.ts';
import { createSimulation } from '../../../src/domain/simulate/simulate.ts';

function simulated(events: readonly object[], rules: unknown = {}) {
  const simulation = createSimulation(parseRules(rules));
  return events.map((event) => simulation.event(SimulatedEvent.parse(event)));
}
const last = (events: readonly object[], rules?: unknown) => simulated(events, rules).at(-1);

const failed = (tool: string, more: object = {}) => ({ tool, success: false, severity: 'server_error', ...more });
const thrice = (tool: string, more: object = {}) => [0, 1, 2].map((at) => ({ at, ...failed(tool, more) }));
const url = (host: string) => ({ args: { url: `https://${host}/x` } });

describe('a line', () => {
  test('is about its own call, whatever time has done to others meanwhile', () => {
    const line = last([...thrice('b'), { at: 1803, tool: 'a', success: true }]);
    expect(line).toMatchObject({ tool: 'a', state: 'TRUSTED', decision: 'allow' });
    expect(line?.touched).toMatchObject([
      { at: 1803, tool: 'b', state: 'RECOVERING', decision: 'ask' },
      { at: 1803, tool: 'a', state: 'TRUSTED', decision: 'allow' },
    ]);
  });

  test('of time passing shows what it changed', () => {
    expect(last([...thrice('b'), { at: 1803, idle: true }])).toMatchObject({
      tool: 'b',
      state: 'RECOVERING',
      decision: 'ask',
    });
    expect(last([{ at: 5, idle: true }])).toEqual({ at: 5, notices: [], touched: [] });
  });

  test('tells what one agent alone has seen from what holds for all', () => {
    const line = last(thrice('b', { agent: 'a1' }), { defaultRule: { minReporters: 2 } });
    expect(line?.touched).toMatchObject([
      { tool: 'b', state: 'TRUSTED' },
      { tool: 'b', state: 'ESCALATED', agent: 'a1', decision: 'ask' },
    ]);
  });
});

describe('an order reaches what it names', () => {
  const many = [...thrice('t', { server: 's' }), ...thrice('t', { server: 'r' })];
  const states = (order: object, before: readonly object[] = many) => {
    const line = last([...before, { at: 3, ...order }]);
    return line?.touched.map(({ server, tool, scope, state }) => [server, tool, scope, state]);
  };

  test.each([
    [
      { reset: 't' },
      [
        ['s', 't', null, 'TRUSTED'],
        ['r', 't', null, 'TRUSTED'],
      ],
    ],
    [{ reset: 't', server: 's' }, [['s', 't', null, 'TRUSTED']]],
    [{ reset: true, server: 's' }, [['s', 't', null, 'TRUSTED']]],
    [{ reset: { tool: 't', server: 's' } }, [['s', 't', null, 'TRUSTED']]],
    [{ reset: true, tool: 't', args: { _mcp_server: 'r' } }, [['r', 't', null, 'TRUSTED']]],
    [{ block: { server: 's' } }, [['s', null, null, 'BLOCKED']]],
    [{ block: 'new' }, [['local', 'new', null, 'BLOCKED']]],
    [{ block: 'new*' }, []],
  ])('%j', (order, expected) => {
    expect(states(order)).toEqual(expected);
  });

  test.each([{ reset: true, tool: 'http' }, { reset: 'http' }, { reset: { tool: 'http' } }])(
    '%j with arguments means their scope alone',
    (order) => {
      const both = [...thrice('http', url('a.test')), ...thrice('http', url('b.test'))];
      expect(states({ ...order, ...url('a.test') }, both)).toEqual([['local', 'http', 'host:a.test', 'TRUSTED']]);
    },
  );
});

describe('times', () => {
  test('a report is taken to be at most so late, and never from the future', () => {
    const late = { ...failed('t'), receivedAt: 100_000 };
    expect(last([0, 1, 2].map((at) => ({ at, ...late })))).toMatchObject({
      state: 'ESCALATED',
      dueAt: 100_000 - 3600 + 1800,
    });
    expect(last([0, 1, 2].map((at) => ({ at: 5000 + at, ...failed('t'), receivedAt: 10 })))).toMatchObject({
      dueAt: 1810,
    });
  });

  test('a burst that ended at one instant escalates and does not block', () => {
    expect(last(Array.from({ length: 9 }, () => ({ at: 10, ...failed('t') })))).toMatchObject({ state: 'ESCALATED' });
  });
});

test('a probe that is never answered is a failure', () => {
  const line = last([...thrice('t'), { at: 2000, tool: 't', outcome: 'unknown', probe: '7' }]);
  expect(line).toMatchObject({ state: 'ESCALATED', reason: 'failed again while recovering (1 relapse)' });
});

test('one failure that no waiting cures keeps the tool from recovering by itself', () => {
  const [first, ...others] = thrice('t');
  const line = last([
    { ...first, recoverable: false },
    ...others,
    { at: 90_000, idle: true },
    { at: 90_001, tool: 't', success: true },
  ]);
  expect(line).toMatchObject({ state: 'ESCALATED', dueAt: null });
});

test('a call that a policy stopped is no outcome of the tool', () => {
  const refused = { tool: 't', error: 'Blocked by policy' };
  const line = last(
    [
      { at: 0, ...refused },
      { at: 1, ...refused },
      { at: 2, ...refused },
    ],
    { defaultRule: { consecutiveThreshold: 2 } },
  );
  expect(line).toMatchObject({ state: 'TRUSTED', consecutiveFailures: 0 });
});

test('null is how many languages leave a field out', () => {
  const line = last([
    { at: 0, tool: 't', server: null, scope: null, success: null, severity: null, httpStatus: '503' },
  ]);
  expect(line).toMatchObject({ server: 'local', consecutiveFailures: 1 });
});
