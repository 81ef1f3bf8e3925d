import type { Field } from '../../command/expand.ts';
import { knownProgram } from '../programs/known-program.ts';
import { isShell } from '../programs/shells.ts';

/** Files that a program runs, or takes its commands from, without being told their names. */
export interface Inputs {
  /** Names that are written out. */
  readonly names: ReadonlySet<string>;
  readonly like: RegExp | undefined;
}

const PACKAGE = 'package.json .npmrc';
const PYTHON_PROJECT = 'setup.py setup.cfg pyproject.toml';
const LOADED_BY_NODE = String.raw`(?:^|/)node_modules/`;
const JS_SETTINGS = String.raw`${LOADED_BY_NODE}|\.config\.[cm]?[jt]sx?$|(?:^|/)\.[\w-]+rc(?:\.\w+)?$`;
const JS_TESTS = String.raw`[._-](?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)test(?:-[^/]*)?\.[cm]?[jt]s$|(?:^|/)(?:tests?|__tests__)/`;
const PYTHON_TESTS = String.raw`(?:^|/)test_[^/]*\.py$|_test\.py$`;

/** Programs, what they read by name, and what they read by its looks. */
const TABLE: readonly (readonly [programs: string, names: string, like?: string])[] = [
  // It knows by itself what a program is made of, down to shell scripts.
  [
    'make gmake',
    'Makefile makefile GNUmakefile',
    String.raw`\.(?:mk|make|[cCfFplsSyrw]|cc|cpp|cxx|sh|mod|def|tex|texi|web)$|,v$|(?:^|/)s\.[^/]*$`,
  ],
  ['java javaw', '', String.raw`\.(?:java|class|jar)$`],
  [
    'npm npx pnpm pnpx yarn yarnpkg bun bunx corepack',
    `${PACKAGE} .yarnrc .yarnrc.yml .pnpmfile.cjs pnpmfile.js pnpm-workspace.yaml bunfig.toml binding.gyp server.js`,
    LOADED_BY_NODE,
  ],
  [
    'eslint prettier webpack vite rollup esbuild babel parcel next nuxt astro storybook tsup turbo nx lerna lint-staged commitlint ' +
      'semantic-release stylelint postcss tailwindcss karma gulp grunt nyc c8 husky',
    'package.json Gruntfile.js gulpfile.js turbo.json nx.json lerna.json',
    JS_SETTINGS,
  ],
  ['vitest jest mocha ava tap playwright cypress', 'package.json', `${JS_SETTINGS}|${JS_TESTS}`],
  [
    'git',
    // A directory with a HEAD, objects and refs in it is a repository, whatever its name.
    '.gitconfig HEAD config .git lefthook.yml .pre-commit-config.yaml',
    String.raw`(?:^|/)(?:\.git/(?!info/exclude$|[A-Z]+_(?:EDIT)?MSG$)|\.husky/|\.githooks/|hooks/|\.ssh/)`,
  ],
  ['ssh scp sftp autossh rsync', '', String.raw`(?:^|/)\.ssh/`],
  ['pytest py.test tox nox', `conftest.py pytest.ini tox.ini noxfile.py ${PYTHON_PROJECT}`, PYTHON_TESTS],
  ['pip pipx uv uvx poetry pipenv pdm hatch rye', `pip.conf Pipfile uv.toml ${PYTHON_PROJECT}`],
  [
    'cmake ctest cpack',
    'CMakeLists.txt CMakePresets.json CMakeUserPresets.json CMakeCache.txt DartConfiguration.tcl',
    String.raw`\.cmake$`,
  ],
  ['ninja', 'build.ninja', String.raw`\.ninja$`],
  ['meson', 'meson.build meson_options.txt meson.options'],
  ['bazel bazelisk', 'BUILD BUILD.bazel WORKSPACE WORKSPACE.bazel MODULE.bazel .bazelrc', String.raw`\.bzl$`],
  ['gradle gradlew', 'gradle.properties gradle-wrapper.properties gradle-wrapper.jar', String.raw`\.gradle(?:\.kts)?$`],
  ['mvn mvnw ant', 'pom.xml build.xml', String.raw`(?:^|/)\.mvn/`],
  ['cargo rustc', 'Cargo.toml build.rs rust-toolchain rust-toolchain.toml', String.raw`(?:^|/)\.cargo/`],
  ['go', 'go.mod go.work go.env', String.raw`_test\.go$`],
  ['just', 'justfile Justfile .justfile'],
  ['task', '', String.raw`(?:^|/)[Tt]askfile[^/]*\.ya?ml$`],
  [
    'rake bundle bundler gem rails rspec',
    'Rakefile rakefile Gemfile .rspec',
    String.raw`\.gemspec$|_spec\.rb$|\.rake$`,
  ],
  ['composer', 'composer.json'],
  ['docker docker-compose podman podman-compose', '', String.raw`(?:^|/)(?:docker-)?compose[^/]*\.ya?ml$`],
  ['terraform tofu terragrunt', '', String.raw`\.(?:tf|tf\.json|hcl)$`],
  ['vagrant', 'Vagrantfile'],
  ['ansible', 'ansible.cfg'],
  ['pre-commit', '.pre-commit-config.yaml'],
  ['bash sh dash ksh zsh', '.bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .kshrc'],
  ['direnv', '.envrc'],
  ['prove', '.proverc', String.raw`\.t$`],
  ['sqlite3', '.sqliterc'],
  ['psql', '.psqlrc'],
  ['mysql mariadb', '.my.cnf'],
  ['vi vim nvim view', '.vimrc .exrc .nvimrc', String.raw`(?:^|/)\.vim/`],
  ['deno', 'deno.json deno.jsonc package.json'],
  ['scons waf rackup', 'SConstruct SConscript wscript config.ru', String.raw`\.(?:py|rb)$`],
  ['ansible-playbook', 'ansible.cfg', String.raw`\.ya?ml$`],
  ['foreman honcho overmind hivemind goreman', 'Procfile .foreman', String.raw`(?:^|/)Procfile\.[^/]*$`],
  ['nix nix-shell nix-build', 'shell.nix default.nix flake.nix', String.raw`\.nix$`],
  ['latexmk', '.latexmkrc latexmkrc'],
  ['mix', 'mix.exs .formatter.exs .iex.exs', String.raw`\.exs?$`],
  ['zig', 'build.zig build.zig.zon'],
  ['swift', 'Package.swift'],
  ['lefthook', '', String.raw`(?:^|/)\.?lefthook[^/]*\.(?:ya?ml|toml|json)$`],
  ['dune', 'dune dune-project'],
  ['stack cabal', 'stack.yaml Setup.hs', String.raw`\.cabal$`],
  ['sbt', 'build.sbt', String.raw`\.sbt$|(?:^|/)project/`],
  ['lein clojure clj', 'project.clj deps.edn'],
];

const INPUTS: ReadonlyMap<string, Inputs> = new Map(
  TABLE.flatMap(([programs, names, like]) => {
    const inputs = { names: new Set(names.split(' ')), like: like === undefined ? undefined : new RegExp(like) };
    return programs.split(' ').map((program): [string, Inputs] => [program, inputs]);
  }),
);

/** `go run`, `swift test`, `x serve`: the program builds what lies where it is started, and runs that. */
const RUNS_WHAT_IT_BUILDS = /^(?:run|test|bench|generate|exec|start|serve|watch)$/;
const BUILDERS: ReadonlySet<string> = new Set(
  'go cargo swift mix zig dune stack cabal sbt lein clojure clj'.split(' '),
);
const BUILT: Inputs = {
  names: new Set(['Makefile', 'Rakefile', 'Justfile', 'Taskfile']),
  like: /\.(?:go|rs|swift|exs?|csx?|csproj|fsx?|zig|kts?|java|scala|sbt|hs|ml|dart|nim|cr|jl|rb|py|[cm]?[jt]sx?|lua|php|sh)$/,
};

/** Of npm and its like: they look, and run nothing. */
const LOOKS = /^(?:-v|--version|-h|--help|help|ls|list|view|info|show|outdated|why|search|whoami|root|prefix|bin|pkg)$/;
const NODE: ReadonlySet<string> = new Set(['node', 'nodejs', 'tsx', 'ts-node', 'bun', 'deno']);
const PYTHON: ReadonlySet<string> = new Set(['python', 'pypy']);
const CODE = 'js mjs cjs json node ts mts cts tsx jsx'.split(' ');

/** What it reads without being told, or undefined if that is nothing we know of. */
export function implicitInputsOf(program: string, args: readonly Field[]): readonly Inputs[] {
  // `pip3` and `python3.12` are pip and python.
  const name = program.startsWith('p') ? program.replace(/^(pip|python|pypy)[\d.]+$/, '$1') : program;
  const own = INPUTS.get(name);
  const more = own === undefined ? [] : [own];
  // Only a login shell reads what lies in a home.
  if (isShell(name) && !args.some(({ text }) => /^(?:-[a-z]*l|--login$)/.test(text))) return [];
  if (NODE.has(name)) return [...more, ...loadedByNode(args.map(({ text }) => text))];
  if (PYTHON.has(name)) return loadedByPython(args.map(({ text }) => text));
  const isBuilder = BUILDERS.has(name) || (own === undefined && !knownProgram(name).takesWords);
  if (isBuilder && RUNS_WHAT_IT_BUILDS.test(args.find(({ text }) => !text.startsWith('-'))?.text ?? ''))
    return [...more, BUILT];
  return own?.names.has('package.json') === true && LOOKS.test(args[0]?.text ?? '') ? [] : more;
}

/** Whether a file of this path, as the line writes it, is one of them. */
export function isAmong({ names, like }: Inputs, path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (names.has(name) || like?.test(path) === true) return true;
  if (!/[*?[]/.test(name)) return false;
  // What stands in brackets, and behind them, may be anything.
  const escaped = name.replace(/\[.*$/s, '*').replace(/[^\w*?]/g, '\\$&');
  const glob = new RegExp(`^${escaped.replace(/\*+/g, '.*').replaceAll('?', '.')}$`, 's');
  return [...names].some((each) => glob.test(each));
}

/** `node x` is x.js, `node .` is index.js, and `--test` looks for tests. */
function loadedByNode(words: readonly string[]): readonly Inputs[] {
  const names = new Set<string>();
  for (const [at, word] of words.entries()) {
    const setting = /^--(?:env-file(?:-if-exists)?|test-reporter|import|require|loader)=(.*)$/s.exec(word)?.[1];
    if (setting !== undefined) names.add(baseName(setting));
    if (word.startsWith('-')) continue;
    // From the first of a row on: from each of them it would take as long as there are more.
    const base = baseName(word.replace(/(?<!\/)\/+$/, ''));
    for (const each of /\.\w+$/.test(base)
      ? [base]
      : CODE.flatMap((end) => [`${base}.${end}`, `index.${end}`, 'package.json']))
      names.add(each);
    // After an option it may be the value of that.
    if (!/^-/.test(words[at - 1] ?? '') && !words.includes('--test')) break;
  }
  const like = words.includes('--test') ? `${LOADED_BY_NODE}|${JS_TESTS}` : LOADED_BY_NODE;
  return [{ names, like: new RegExp(like) }];
}

/** `-m` looks for its module, and that one for all of its own, first where it is started. */
function loadedByPython(words: readonly string[]): readonly Inputs[] {
  const always = { names: new Set(['sitecustomize.py', 'usercustomize.py', 'pyvenv.cfg']), like: /\.pth$/ };
  const at = words.findIndex((word) => /^-[a-zA-Z]*m/.test(word));
  if (at === -1) {
    // Of a directory, or an archive, that is what is run.
    const isPlace = words.some((word) => !/^-|\.pyc?$/.test(word));
    return isPlace ? [always, { names: new Set(['__main__.py']), like: undefined }] : [always];
  }
  const attached = (words[at] ?? '').replace(/^-[a-zA-Z]*?m/, '');
  const [module = ''] = (attached === '' ? (words[at + 1] ?? '') : attached).split('.');
  const found = { names: new Set([`${module}.py`, '__main__.py', '__init__.py']), like: /\.(?:pyc?|so)$/ };
  const tool = INPUTS.get(
    /^(?:unittest|doctest|nose2?)$/.test(module) ? 'pytest' : module === 'build' ? 'pip' : module,
  );
  return tool === undefined ? [always, found] : [always, found, tool];
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
