import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bounded } from '../../../src/domain/key/bounded.ts';
import { sha256Hex } from '../../../src/domain/key/sha256.ts';
import { serverKey, serverOf, toolKey } from '../../../src/domain/key/tool-key.ts';
import { hostile } from '../outcome/hostile.ts';

/** Also lone surrogates, control characters, and names long enough to be cut. */
const names = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)), maxLength: 20 }),
  fc.string({ unit: fc.constantFrom('/', '%', '~', ':', 'a', '2', 'F', 'é'), maxLength: 8 }),
  fc.string({ unit: fc.constantFrom('a', 'é', '/'), minLength: 190, maxLength: 210 }),
);

describe('the key of a tool', () => {
  it.each([
    ['local', 'bash', 'tool:local/bash'],
    ['a/b', 'c', 'tool:a%2Fb/c'],
    ['a', 'b/c', 'tool:a/b%2Fc'],
    ['a', 'é 100%', 'tool:a/%C3%A9%20100%25'],
    ['a', "x~!'()*", 'tool:a/x%7E%21%27%28%29%2A'],
    ['a', '\ud800', 'tool:a/%ED%A0%80'],
    ['a', 'x\n\0', 'tool:a/x%0A%00'],
    ['', '', 'tool:/'],
    ['a', 'call ghp_abcdefghijklmnopqrstuvwx', 'tool:a/call%20%5Bredacted%5D'],
  ])('of %j and %j', (server, name, key) => {
    expect(toolKey(server, name)).toBe(key);
  });

  it('is cut with a hash when it is long, and never in the middle of an escape', () => {
    const key = toolKey('server', 'é'.repeat(500));
    expect(key).toMatch(/^tool:server\/(?:%C3%A9)+(?:%C3)?~[0-9a-f]{32}$/);
    expect(key.length).toBeLessThanOrEqual(200);
  });

  it('differs whenever server or name do', () => {
    fc.assert(
      fc.property(names, names, names, names, (server, name, otherServer, otherName) => {
        const same = server === otherServer && name === otherName;
        expect(toolKey(server, name) === toolKey(otherServer, otherName)).toBe(same);
        expect(serverKey(name) === serverKey(otherName)).toBe(name === otherName);
        expect(toolKey(server, name)).not.toBe(serverKey(otherName));
      }),
      { numRuns: 500 },
    );
  });

  it('is plain, printable and at most 200 bytes', () => {
    fc.assert(
      fc.property(names, names, (server, name) => {
        expect(toolKey(server, name)).toMatch(/^tool:[A-Za-z0-9._%/~-]*$/);
        expect(toolKey(server, name).length).toBeLessThanOrEqual(200);
        expect(serverKey(name).length).toBeLessThanOrEqual(200);
      }),
    );
  });
});

describe('the server of a report', () => {
  it('is the one named, or the one among the arguments, or local', () => {
    expect(serverOf({ server: 'a', args: { _mcp_server: 'b' } })).toBe('a');
    expect(serverOf({ args: { _mcp_server: 'b' } })).toBe('b');
    expect(serverOf({ server: '', args: { _mcp_server: 3 } })).toBe('local');
    expect(serverOf({})).toBe('local');
    fc.assert(
      fc.property(hostile, (args) => {
        expect(serverOf({ args: args() })).toBe('local');
      }),
    );
  });
});

describe('the hash', () => {
  it('is SHA-256', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        expect(sha256Hex(text)).toBe(createHash('sha256').update(text).digest('hex'));
      }),
    );
    for (const length of [0, 55, 56, 63, 64, 65, 119, 120, 10_000]) {
      const text = 'x'.repeat(length);
      expect(sha256Hex(text)).toBe(createHash('sha256').update(text).digest('hex'));
    }
  });

  it('takes the place of what does not fit', () => {
    expect(bounded('short', 40)).toBe('short');
    expect(bounded('é'.repeat(30), 60)).toBe('é'.repeat(30));
    expect(bounded('é'.repeat(31), 60)).toMatch(/^é{13}~[0-9a-f]{32}$/);
  });
});
