import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordOf } from '../../../src/domain/outcome/record.ts';
import { hostile } from './hostile.ts';

describe('a success', () => {
  it('is kept lean', () => {
    expect(
      recordOf({
        tool: 'http_request',
        args: { url: 'https://a.example/x', body: 'y' },
        success: true,
        traceback: 'x',
        context: {},
      }),
    ).toEqual({
      kind: 'success',
      server: 'local',
      name: 'http_request',
      scope: 'host:a.example',
    });
  });
});

describe('a failure', () => {
  const failure = recordOf({
    tool: 'search',
    server: 'atlassian',
    args: { url: 'https://a.example/x', token: 'hunter2' },
    callId: 'call-1',
    agent: 'agent-1',
    session: 'session-1',
    turn: 3,
    at: new Date(2000),
    startedAt: 1000,
    trustVersion: 7,
    probe: 'lease-1',
    error: { message: 'upstream said password=hunter2', status: 503 },
    errorType: 'UpstreamError',
    traceback: `at x\nAuthorization: Bearer hunter2hunter2 ${'y '.repeat(5000)}`,
    context: { attempt: 2, apiKey: 'hunter2', note: 'token=hunter2' },
    retryCount: 2,
    wasTransient: true,
  });

  it('keeps everything that helps whoever looks into it', () => {
    expect(failure).toMatchObject({
      kind: 'failure',
      server: 'atlassian',
      name: 'search',
      scope: 'host:a.example',
      severity: 'server_error',
      category: 'reachability',
      evidence: 'structured',
      errorType: 'UpstreamError',
      message: 'upstream said password=[redacted]',
      httpStatus: 503,
      recoverable: true,
      retryCount: 2,
      wasTransient: true,
      argumentSummary: { url: 'host:a.example', token: 'redacted' },
      argumentsDigest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      context: '{"attempt":2,"apiKey":"[redacted]","note":"token=[redacted]"}',
      callId: 'call-1',
      agent: 'agent-1',
      session: 'session-1',
      turn: 3,
      at: 2000,
      startedAt: 1000,
      trustVersion: 7,
      probe: 'lease-1',
    });
  });

  it('keeps no credential, and little of a long traceback', () => {
    expect(JSON.stringify(failure)).not.toContain('hunter2');
    expect(failure).toMatchObject({ traceback: expect.stringMatching(/^[\s\S]{1,2048}$/) as string });
  });

  it('keeps no half of a credential where it cuts', () => {
    const context = { note: `${'x '.repeat(190)}sk-abcdefghijklmnopqrstuvwxyz` };
    expect(JSON.stringify(recordOf({ tool: 't', error: 'x', context }))).not.toContain('sk-');
    expect(
      JSON.stringify(recordOf({ tool: 't', error: { odd: `${'x '.repeat(36)}sk-abcdefghijklmnopqrstuvwxyz` } })),
    ).not.toContain('sk-');
  });

  it('can be one that no waiting cures', () => {
    expect(recordOf({ tool: 't', error: 'x', recoverable: false })).toMatchObject({ recoverable: false });
  });
});

describe('any record', () => {
  it('takes a given scope where the arguments say none, in the same form', () => {
    const scope = 'https://me:pw@B.example:8443/x';
    expect(recordOf({ tool: 't', args: { n: 1 }, scope }).scope).toBe('host:b.example');
    expect(recordOf({ tool: 't', args: { url: 'https://a.example' }, scope: ' ' }).scope).toBe('host:a.example');
  });

  it('is held against what its arguments say, whatever scope is claimed', () => {
    const args = { url: 'https://a.example' };
    expect(recordOf({ tool: 't', args, error: 'x', scope: 'host:b.example' }).scope).toBe('host:a.example');
  });

  it('finds the server among the arguments if it is given nowhere else', () => {
    expect(recordOf({ tool: 't', args: { _mcp_server: 'atlassian' } }).server).toBe('atlassian');
  });

  it('keeps an unknown outcome as such', () => {
    expect(recordOf({ tool: 't', outcome: 'unknown', callId: 'c' })).toEqual({
      kind: 'unknown',
      server: 'local',
      name: 't',
      callId: 'c',
    });
  });

  it('drops a time that is none', () => {
    expect(recordOf({ tool: 't', at: new Date(Number.NaN) })).not.toHaveProperty('at');
  });

  it('can be made of anything, is small, and survives JSON', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 1 }),
        hostile,
        hostile,
        hostile,
        (tool, args, result, context) => {
          const record = recordOf({ tool, args: args(), result: result(), context: context(), success: false });
          const text = JSON.stringify(record);
          expect(JSON.parse(text)).toEqual(record);
          expect(text.length).toBeLessThan(8000);
          expect(text).not.toMatch(/\\u0000|\\ud[89a-f]/i);
        },
      ),
    );
  });
});
