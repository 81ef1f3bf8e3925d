import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// The SDK's native library and worker threads do not go together.
const shared = { pool: 'forks', testTimeout: 120_000, hookTimeout: 120_000 } as const;
const SERVERS = ['test/support/global-setup.ts'];
const PURE = [
  'test/domain/**/*.test.ts',
  'test/console/diff.test.ts',
  'test/stack/{build,config,search-attributes}.test.ts',
];
// Each brings servers of its own, and kills or starts them as its users would, or a browser.
const APART = [
  'test/console/**/*.test.ts',
  'test/e2e/{approvals,kills,kills-races,lease,readme}.test.ts',
  'test/stack/{kill,postgres-account,stack}.test.ts',
];
// Fifty processes that count on being answered within seconds.
const ALONE = ['test/e2e/approvals-http.test.ts'];

/** What takes minutes begins first: at the end of a group it would keep one of two cores waiting for it. */
const LONGEST = 'readme kills garbage many-approvals kill lease evasion cli-ledger approvals cli-files-audit'.split(
  ' ',
);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const places = new Map(LONGEST.map((name, place) => [`${name}.test.ts`, place]));
    const placeOf = ({ moduleId }: TestSpecification) =>
      places.get(moduleId.slice(moduleId.lastIndexOf('/') + 1)) ?? LONGEST.length;
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // .ci/run counts from the file.
    reporters: ['default', ['json', { outputFile: '.surety/test-results.json' }]],
    projects: [
      {
        test: {
          ...shared,
          name: 'pure',
          include: PURE,
          // Nothing here has a state to share: one process loads everything once.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...PURE, ...APART, ...ALONE],
          globalSetup: SERVERS,
          maxWorkers: 2,
          // Servers on a machine that is busy otherwise may be late once. A second try is named in the output, never silent.
          retry: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: 'apart',
          include: APART,
          exclude: PURE,
          globalSetup: SERVERS,
          maxWorkers: 2,
          retry: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...shared,
          name: 'alone',
          include: ALONE,
          globalSetup: SERVERS,
          maxWorkers: 1,
          retry: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
