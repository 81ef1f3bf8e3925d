import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist', 'node_modules', '.surety', 'test/replay/mutations'] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Numbers in messages are the point of a message.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'The environment is read once, in src/config.ts.' },
      ],
      'no-console': 'error',
      // `const { secret: _, ...rest }` is how a key is left out.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_$' }],
    },
  },
  {
    // The environment is read here; a terminal is written to here; scripts and tests are neither library nor worker.
    files: ['src/config.ts', 'test/**', 'scripts/**', 'examples/**', 'bench/**'],
    rules: { 'no-restricted-properties': 'off', 'no-console': 'off' },
  },
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    ...tseslint.configs.disableTypeChecked,
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: { globals: { console: 'readonly', process: 'readonly', URL: 'readonly', module: 'writable' } },
  },
  {
    // Workflow code replays: a Node builtin or a clock there is a bug that shows only weeks later.
    files: ['workflows/**', 'src/domain/trust/**'],
    ignores: ['**/*.schema.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: ['node:*', 'pg', 'zod'] }] },
  },
);
