import { expect, test } from 'vitest';
import { shownArguments } from '../../../src/domain/approval/shown.ts';

test('nothing that would run is cut, however far back it stands', () => {
  const command = `echo ok${' '.repeat(20_000)}; rm -rf /`;
  const items = Array.from({ length: 10_000 }, (_, i) => i);
  expect(shownArguments({ command, items })).toEqual({ command, items });
});

test('what can be nothing but a credential is masked, and nothing hides behind one', () => {
  expect(
    shownArguments({
      api_key: 'abc123',
      password: 'x; rm -rf /srv',
      command: 'deploy --token "; rm -rf /srv"',
      header: 'sk-abcdefghijklmnopqrstuvwx',
      nested: [{ token: 'one-word' }],
    }),
  ).toEqual({
    api_key: '[redacted]',
    password: 'x; rm -rf /srv',
    command: 'deploy --token "; rm -rf /srv"',
    header: '[redacted]',
    nested: [{ token: '[redacted]' }],
  });
});
