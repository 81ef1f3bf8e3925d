import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { Problem } from '../../src/problem.ts';

describe('the environment', () => {
  it('may be empty', () => {
    expect(loadConfig({})).toMatchObject({
      home: resolve('.surety'),
      enabled: undefined,
      databaseUrl: undefined,
      taskQueue: 'surety',
      ports: { temporal: 7233, ui: 8233, postgres: 7432 },
      temporal: { external: false, env: {} },
      colour: true,
    });
  });

  it('takes an empty variable for one that is not set', () => {
    expect(loadConfig({ SURETY_THRESHOLD: '', DATABASE_URL: '', TEMPORAL_ADDRESS: '', NO_COLOR: '' })).toEqual(
      loadConfig({}),
    );
  });

  it('tells a ledger from a database of the project', () => {
    const [own, theirs] = ['postgres://surety@db/ledger', 'postgres://app@db/app'];
    const both = loadConfig({ SURETY_DATABASE_URL: own, DATABASE_URL: theirs });
    expect(both).toMatchObject({ databaseUrl: own, isOwnDatabaseUrl: true });
    expect(loadConfig({ DATABASE_URL: theirs })).toMatchObject({ databaseUrl: theirs, isOwnDatabaseUrl: false });
    expect(() => loadConfig({ SURETY_DATABASE_URL: 'mysql://me:s3cret@db/x' })).toThrow(
      /^SURETY_DATABASE_URL: expected/,
    );
  });

  it.each([
    ['true', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ])('reads %s as a flag', (text, value) => {
    expect(loadConfig({ SURETY_ENABLED: text, SURETY_PERSIST: text })).toMatchObject({
      enabled: value,
      persist: value,
    });
  });

  it('reads numbers', () => {
    expect(loadConfig({ SURETY_THRESHOLD: '5', SURETY_WINDOW: '60' })).toMatchObject({
      threshold: 5,
      windowSeconds: 60,
    });
  });

  it.each([
    ['SURETY_ENABLED', 'yes'],
    ['SURETY_THRESHOLD', '0'],
    ['SURETY_THRESHOLD', '3.5'],
    ['SURETY_WINDOW', '-1'],
    ['SURETY_WINDOW', '1h'],
    ['SURETY_UI_PORT', '70000'],
    ['SURETY_POSTGRES_PORT', 'postgres'],
  ])('refuses %s=%s and names both', (name, value) => {
    const load = () => loadConfig({ [name]: value });
    expect(load).toThrow(Problem);
    expect(load).toThrow(new RegExp(`${name} is "${value}": expected`));
  });

  it('never prints the password of a database it cannot use', () => {
    expect(() => loadConfig({ DATABASE_URL: 'mysql://me:s3cret@db/x' })).toThrow(
      /^DATABASE_URL: expected postgres:\/\/user:password@host:port\/database$/,
    );
  });

  it('knows where people find it: as it is told, or where it listens', () => {
    expect(loadConfig({ SURETY_PUBLIC_URL: 'https://surety.example.com/x/' }).publicUrl).toBe(
      'https://surety.example.com/x',
    );
    expect(loadConfig({}).publicUrl).toBe('http://127.0.0.1:7400');
    expect(loadConfig({ SURETY_HTTP_HOST: '0.0.0.0', SURETY_HTTP_PORT: '80' }).publicUrl).toBe('http://127.0.0.1:80');
    expect(() => loadConfig({ SURETY_PUBLIC_URL: 'surety.example.com' })).toThrow('expected http://host:port');
  });

  it('wants three different ports', () => {
    expect(() => loadConfig({ SURETY_UI_PORT: '7233' })).toThrow('must differ, got 7233, 7233, 7432');
  });

  it.each(['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'])(
    'takes %s for a server of its own',
    (name) => {
      expect(loadConfig({ [name]: 'x' }).temporal).toEqual({ external: true, env: { [name]: 'x' } });
    },
  );

  it('keeps our own server when only a namespace is given', () => {
    expect(loadConfig({ TEMPORAL_NAMESPACE: 'team' }).temporal).toEqual({
      external: false,
      env: { TEMPORAL_NAMESPACE: 'team' },
    });
  });
});
