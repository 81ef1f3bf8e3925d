import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // The SDK's native library and worker threads do not go together.
    pool: 'forks',
    // One file at a time: each brings servers of its own, and some of them count on being answered within seconds.
    maxWorkers: 1,
    testTimeout: 120_000,
    // Servers on a machine that is busy otherwise may be late once. A second try is named in the output, never silent.
    retry: 1,
    hookTimeout: 120_000,
    include: ['test/**/*.test.ts'],
    // .ci/run counts from the file.
    reporters: ['default', ['json', { outputFile: '.surety/test-results.json' }]],
    globalSetup: ['test/support/global-setup.ts'],
  },
});
