import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { summarise } from '../../../src/domain/outcome/summary.ts';
import { hostile } from './hostile.ts';

describe('a summary of arguments', () => {
  it('shows hosts, directories and programs, and of all else the kind', () => {
    expect(
      summarise('call', {
        url: 'https://u:p@API.example.com/v1?key=abc',
        path: '/home/me/secret-plan.txt',
        command: 'sudo git push',
        body: 'hello world!',
        password: 'hunter2',
        items: [1, 2, 3],
        options: { a: 1 },
        count: 3,
        none: null,
      }),
    ).toEqual({
      url: 'host:api.example.com',
      path: 'dir:/home/me',
      command: 'program:git',
      body: 'string(12)',
      password: 'redacted',
      items: 'array(3)',
      options: 'object(1)',
      count: 'number',
      none: 'null',
    });
  });

  it('of what is no object shows the kind', () => {
    expect(summarise('t', undefined)).toEqual({});
    expect(summarise('t', null)).toEqual({});
    expect(summarise('t', 'hello')).toEqual({ arguments: 'string(5)' });
    expect(summarise('bash', 'git status')).toEqual({ arguments: 'program:git' });
    expect(summarise('t', [1, 2])).toEqual({ arguments: 'array(2)' });
  });

  it('keeps a name that is itself a credential to itself', () => {
    expect(Object.keys(summarise('t', { 'sk-abcdefghijklmnopqrst': 1 }))).toEqual(['[redacted]']);
  });

  it('takes a key named like the prototype as a key', () => {
    const args = JSON.parse('{"__proto__": 1, "constructor": 2}') as unknown;
    expect(JSON.stringify(summarise('t', args))).toBe('{"__proto__":"number","constructor":"number"}');
  });

  it('stays near a kilobyte, whatever it is given', () => {
    fc.assert(
      fc.property(hostile, (args) => {
        expect(JSON.stringify(summarise('bash', args())).length).toBeLessThan(1200);
      }),
    );
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`argument-${index}`, 'x']));
    const summary = summarise('t', many);
    expect(JSON.stringify(summary).length).toBeLessThan(1200);
    expect(summary['…']).toMatch(/^\d+ more$/);
  });

  it('never shows a value', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.constantFrom('text', 'query', 'body', 'q', 'token'), (value, name) => {
        expect(JSON.stringify(summarise('t', { [name]: value, nested: { [name]: value } }))).not.toContain(value);
      }),
    );
  });
});
