import { describe, expect, it } from 'vitest';
import { Report } from '../../../src/domain/outcome/report.schema.ts';

const pathOf = (value: unknown) => Report.safeParse(value).error?.issues.map(({ path }) => path.join('.'));

describe('a report', () => {
  it('needs nothing but a tool', () => {
    expect(Report.parse({ tool: 'bash' })).toEqual({ tool: 'bash' });
  });

  it('takes whatever the tool gave', () => {
    const given = { tool: 't', args: null, result: [Number.NaN], error: new Error('x'), context: 3 };
    expect(Report.parse(given)).toEqual(given);
  });

  it.each<[string, object]>([
    ['tool', { tool: '' }],
    ['tool', { tool: 'x'.repeat(10_241) }],
    ['success', { success: 'yes' }],
    ['severity', { severity: 'bad' }],
    ['turn', { turn: 1.5 }],
    ['at', { at: Number.NaN }],
    ['at', { at: 'yesterday' }],
    ['httpStatus', { httpStatus: 1000 }],
    ['trustVersion', { trustVersion: -1 }],
    ['outcome', { outcome: 'success' }],
    ['probe', { probe: '' }],
    ['session', { session: 'a\0b' }],
    ['agent', { agent: '\ud800' }],
  ])('names %s when it is wrong', (path, fields) => {
    expect(pathOf({ tool: 't', ...fields })).toEqual([path]);
  });

  it('refuses a misspelt key, by name', () => {
    expect(Report.safeParse({ tool: 't', sucess: false }).error?.issues[0]).toMatchObject({ keys: ['sucess'] });
  });
});
