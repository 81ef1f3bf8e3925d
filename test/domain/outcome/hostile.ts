import fc from 'fast-check';

/**
 * Values no careful tool returns, and careless ones do: cycles, getters that throw, proxies, megabytes, non-JSON. Made on
 * demand, because fast-check itself cannot carry a revoked proxy.
 */
export const hostile: fc.Arbitrary<() => unknown> = fc.oneof(
  fc
    .anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withObjectString: true,
      withSparseArray: true,
      withTypedArray: true,
    })
    .map((value) => () => value),
  fc.constantFrom<() => unknown>(
    () => {
      const cyclic: Record<string, unknown> = { error: 'x', url: 'https://a.example' };
      cyclic['self'] = cyclic;
      cyclic['cause'] = cyclic;
      cyclic['errors'] = [cyclic];
      for (const name of ['message', 'detail', 'details', 'reason', 'body', 'msg']) cyclic[name] = cyclic;
      return cyclic;
    },
    () => throwing(['error', 'status', 'message', 'url', 'command', 'path', 'length', 'code', 'cause']),
    () => revoked({}),
    () => revoked([]),
    () => new Proxy({}, { ownKeys: trap, get: trap, has: trap, getPrototypeOf: trap }),
    () => new Proxy([], { get: trap }),
    () => Symbol('secret'),
    () => () => 'x',
    () => 'x'.repeat(2_000_000),
    () => ({ error: 'token='.repeat(400_000), command: '$('.repeat(100_000), url: 'https://'.repeat(50_000) }),
    () => Object.assign(new Error('boom'), { cause: throwing(['code', 'message']) }),
    () => new Date(Number.NaN),
    () => ({ error: Number.NaN, status: Number.POSITIVE_INFINITY, exit_code: -0, code: 2n ** 80n }),
    () => ({ command: '\ud800', path: '\udfff/\0', url: 'https://\ud800/', error: '\ud800' }),
    () => Object.create(null) as unknown,
  ),
  fc
    .dictionary(
      fc.constantFrom(
        'error',
        'errors',
        'status',
        'code',
        'exit_code',
        'isError',
        'content',
        'message',
        'url',
        'command',
        'path',
      ),
      fc.anything(),
    )
    .map((value) => () => value),
);

function trap(): never {
  throw new Error('trap');
}

function throwing(names: readonly string[]): object {
  const value: object = {};
  for (const name of names) Object.defineProperty(value, name, { enumerable: true, get: trap });
  return value;
}

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}
