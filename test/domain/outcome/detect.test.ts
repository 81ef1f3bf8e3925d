import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judge } from '../../../src/domain/outcome/detect.ts';
import robustness from '../../fixtures/robustness.json' with { type: 'json' };
import { recordOf } from '../../../src/domain/outcome/record.ts';
import { Report } from '../../../src/domain/outcome/report.schema.ts';
import { hostile } from './hostile.ts';

const kindOf = (result: unknown) => judge({ tool: 't', result }).kind;

describe('what counts as a failure', () => {
  it.each<[string, unknown]>([
    ['an error text', { error: 'boom' }],
    ['an error object', { error: { message: 'boom' } }],
    ['an empty error object, as JSON makes of an Error', { error: {} }],
    ['error: true', { error: true, message: 'boom' }],
    ['a list of errors', { errors: [{ message: 'a' }] }],
    ['isError', { isError: true, content: [{ type: 'text', text: 'boom' }] }],
    ['is_error', { is_error: true }],
    ['success: false', { success: false }],
    ['ok: false', { ok: false }],
    ['status 404', { status: 404 }],
    ['status as text', { status: '503' }],
    ['statusCode', { statusCode: 500 }],
    ['status_code as text', { status_code: '500' }],
    ['a whole status line', { status_code: 'HTTP/1.1 502 Bad Gateway' }],
    ['http_status beside data', { http_status: 500, data: [] }],
    ['the status of a nested response', { response: { status: 500 } }],
    ['an HTTP code beside a message', { code: 404, message: 'gone' }],
    ['a fetch Response', new Response('', { status: 500 })],
    ['exit_code', { exit_code: 1, stderr: 'oops' }],
    ['exitCode as text', { exitCode: '2' }],
    ['returncode', { returncode: -9 }],
    ['code beside output', { code: 1, stdout: '', stderr: '' }],
    ['status beside output, as spawnSync gives', { status: 1, stdout: '', stderr: '', signal: null }],
    ['a signal beside output', { code: null, signal: 'SIGKILL', stdout: '' }],
    ['timedOut', { timedOut: true }],
    ['an Error returned instead of thrown', new Error('boom')],
    ['structured content that says so', { content: [], structuredContent: { error: 'boom' } }],
    ['an envelope with words', { status: 'error', message: 'boom' }],
  ])('%s', (_, result) => {
    expect(kindOf(result)).toBe('failure');
    expect(judge({ tool: 't', success: true, result }).kind).toBe('failure');
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['text about an error', 'An error occurred in 1912: 404 not found'],
    ['a list, whatever is in it', [{ error: 'boom' }]],
    ['error: null', { error: null }],
    ['error: false', { error: false }],
    ['an empty error text', { error: ' ' }],
    ['error: 0', { error: 0 }],
    ['no errors', { errors: [], error: undefined }],
    ['a count of errors', { errors: 3, warnings: 1 }],
    ['status_code: null', { status_code: null }],
    ['status ok', { status: 'ok' }],
    ['a status of business data', { status: 'open', code: 'ABC' }],
    ['a job that failed, looked up rightly', { id: 7, status: 'failed' }],
    ['an error state without words', { status: 'error' }],
    ['a small number as status', { status: 3 }],
    ['a redirect', { status: 301 }],
    ['a room number', { code: 404, name: 'Hall B' }],
    ['exit code 0 with words on stderr', { exit_code: 0, stderr: 'Permission denied' }],
    ['exit code null', { exit_code: null, stdout: '' }],
    ['isError: false', { isError: false, content: [{ type: 'text', text: 'error' }] }],
    ['a function', () => 'x'],
  ])('but not %s', (_, result) => {
    expect(kindOf(result)).toBe('success');
  });

  it.each<[string, Parameters<typeof judge>[0]]>([
    ['success: false', { tool: 't', success: false, result: { fine: true } }],
    ['an error', { tool: 't', success: true, error: 'boom' }],
    ['a thrown symbol', { tool: 't', error: Symbol('x') }],
    ['an HTTP status', { tool: 't', httpStatus: 500 }],
    ['a severity', { tool: 't', severity: 'crash' }],
    ['an error type', { tool: 't', errorType: 'KeyError' }],
  ])('the reporter says so by %s', (_, report) => {
    expect(judge(report).kind).toBe('failure');
  });

  it('keeps an outcome that nobody knows as unknown', () => {
    expect(judge({ tool: 't', outcome: 'unknown' })).toEqual({ kind: 'unknown' });
  });
});

describe('what is said about a failure', () => {
  const said = (report: Omit<Parameters<typeof judge>[0], 'tool'>) => judge({ tool: 't', ...report });

  it.each<[string, Omit<Parameters<typeof judge>[0], 'tool'>, object]>([
    [
      'the text of an MCP result',
      { result: { isError: true, content: [{ type: 'text', text: 'no such page' }] } },
      { message: 'no such page' },
    ],
    [
      'the cause of an error',
      {
        error: new TypeError('fetch failed', {
          cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
        }),
      },
      { message: 'fetch failed: connect ECONNREFUSED', errorType: 'TypeError', category: 'reachability' },
    ],
    ['the first errors', { result: { errors: [{ message: 'a' }, { message: 'b' }] } }, { message: 'a\nb' }],
    ['a string result of a failed call', { success: false, result: 'no luck' }, { message: 'no luck' }],
    [
      'stderr',
      { result: { exit_code: 2, stderr: 'bad flag' } },
      { message: 'bad flag', exitCode: 2, errorType: 'exit_code' },
    ],
    [
      'the status if there are no words',
      { result: { status: 503 } },
      { message: 'HTTP 503', httpStatus: 503, errorType: 'http_error' },
    ],
    ['the exit code if there are no words', { result: { exit_code: 3 } }, { message: 'exit code 3' }],
    [
      'the status inside an axios error',
      { error: { message: 'Request failed', response: { status: 401 } } },
      { httpStatus: 401, category: 'auth' },
    ],
    ['the reporter’s status first', { httpStatus: 404, error: { status: 500, message: 'x' } }, { httpStatus: 404 }],
    ['the reporter’s type first', { errorType: 'KeyError', error: new RangeError('x') }, { errorType: 'KeyError' }],
    ['the message beside error: true', { result: { error: true, message: 'broken' } }, { message: 'broken' }],
  ])('%s', (_, report, expected) => {
    expect(said(report)).toMatchObject(expected);
  });

  it('never more than 500 characters, and no credentials', () => {
    const verdict = said({ error: `Authorization: Bearer abcdef123456 ${'x '.repeat(100_000)}` });
    expect(verdict).toMatchObject({ kind: 'failure' });
    expect(JSON.stringify(verdict).length).toBeLessThan(800);
    expect(JSON.stringify(verdict)).not.toContain('abcdef123456');
  });
});

describe('robustness', () => {
  it.each(robustness)('$id', ({ report, expect: expected }) => {
    expect(recordOf(Report.parse(report))).toMatchObject(expected);
  });

  it('judges any value, the same way each time', () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, (result, error, args) => {
        const report = { tool: 'bash', result: result(), error: error(), args: args() };
        expect(judge(report)).toEqual(judge(report));
      }),
      { numRuns: 300 },
    );
  });

  it('judges plain JSON as it will be judged after a journey as JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (result) => {
        expect(judge({ tool: 't', result })).toEqual(
          judge({ tool: 't', result: JSON.parse(JSON.stringify(result)) as unknown }),
        );
      }),
    );
  });

  it('changes nothing it is given', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (result) => {
        const before = JSON.stringify(result);
        judge({ tool: 't', result, args: result, error: result });
        expect(JSON.stringify(result)).toBe(before);
      }),
    );
  });
});
