import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readReport, Report, ReportFields } from '../../../src/domain/outcome/report.schema.ts';

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

  describe('read by the fields it has', () => {
    const value = fc.oneof(
      fc.constantFrom<unknown>(
        null,
        undefined,
        '',
        't',
        true,
        false,
        'unknown',
        'crash',
        '503',
        1.5,
        -1,
        new Date(NaN),
      ),
      fc.nat(2000),
      fc.anything({ withDate: true }),
    );
    const names = fc.constantFrom(...Object.keys(ReportFields.shape), 'sucess', '__proto__', 'constructor');
    const fields = fc.uniqueArray(fc.tuple(names, value), { selector: ([name]) => name, maxLength: 6 });
    const made = (entries: readonly (readonly [string, unknown])[], proto: object | null, enumerable: boolean) => {
      const report = Object.create(proto) as object;
      for (const [name, value] of entries) Object.defineProperty(report, name, { value, enumerable });
      return report;
    };

    it('is what the schema makes of all of them', () => {
      let accepted = 0;
      const prototypes = fc.constantFrom<object | null>(Object.prototype, null, { success: false }, Date.prototype);
      fc.assert(
        fc.property(fields, fc.boolean(), prototypes, fc.boolean(), (given, hasTool, proto, enumerable) => {
          const entries = hasTool ? [...given.filter(([name]) => name !== 'tool'), ['tool', 't'] as const] : given;
          const report = made(entries, proto, enumerable);
          const [read, parsed] = [readReport(report), Report.safeParse(report)];
          accepted += read.success ? 1 : 0;
          expect(read.data).toEqual(parsed.data);
          expect(read.error?.issues).toEqual(parsed.error?.issues);
        }),
        { numRuns: 3000 },
      );
      expect(accepted).toBeGreaterThan(100);
    });

    it.each([undefined, null, 'report', [], 3])('refuses %j as the schema does', (report) => {
      expect(readReport(report).error?.issues).toEqual(Report.safeParse(report).error?.issues);
    });
  });
});
