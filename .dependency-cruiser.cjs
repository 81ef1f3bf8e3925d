// STYLE section 2, executable: who may import whom, by value. Type imports are free.
const SCHEMA = '[.]schema[.]ts$';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'domain-is-pure',
      comment: 'The domain imports itself, and small pure packages.',
      severity: 'error',
      from: { path: '^src/domain' },
      to: {
        pathNot: ['^src/domain', '^node_modules/(zod|unbash|canonicalize|ipaddr[.]js)/', '^node:crypto$', '^crypto$'],
      },
    },
    {
      name: 'zod-only-in-schema-files',
      severity: 'error',
      from: { path: '^src/domain', pathNot: [SCHEMA, '^src/domain/rules/parse-rules[.]ts$'] },
      to: { path: '^node_modules/zod/' },
    },
    {
      name: 'workflows-are-deterministic',
      comment: 'Workflow code runs in a sandbox and replays.',
      severity: 'error',
      from: { path: '^workflows' },
      to: {
        pathNot: [
          '^workflows',
          '^src/domain',
          '^src/temporal/search-attributes[.]ts$',
          '^node_modules/@temporalio/(workflow|common)/',
        ],
      },
    },
    {
      name: 'no-zod-in-workflows',
      comment: 'One schema in the bundle makes it half as large again, in every cached workflow.',
      severity: 'error',
      from: { path: '^workflows' },
      to: { path: '^node_modules/(zod|pg|unbash)/', reachable: true },
    },
    {
      name: 'activities-do-effects',
      severity: 'error',
      from: { path: '^activities' },
      to: {
        pathNot: [
          '^activities',
          '^src/domain',
          '^src/postgres',
          '^src/execution',
          '^node_modules/@temporalio/(activity|common)/',
        ],
      },
    },
    {
      name: 'no-worker-in-the-library',
      comment: 'An agent that embeds the gate loads neither the worker nor a Temporal client.',
      severity: 'error',
      from: { path: '^src/gate' },
      to: { path: '^node_modules/@temporalio/', reachable: true },
    },
    {
      name: 'edges-do-not-import-each-other',
      severity: 'error',
      from: { path: '^src/(gate|postgres|temporal|stack|upkeep)' },
      to: { path: '^src/(cli|worker[.]ts|up[.]ts)' },
    },
  ],
  options: {
    tsPreCompilationDeps: false,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default'] },
  },
};
