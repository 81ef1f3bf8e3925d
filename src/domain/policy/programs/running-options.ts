/** By which of its arguments a program runs others. Names are set apart by blanks; a long one may be abbreviated. */
export interface RunningOptions {
  /** Options whose value is a command. */
  readonly command?: string;
  readonly commandLetters?: string;
  /** Options after which it may run anything: code, a file of it, settings that name commands. */
  readonly steer?: string;
  readonly steerLetters?: string;
  /** Options whose value is a file of code that it runs. */
  readonly file?: string;
  readonly fileLetters?: string;
  /** Letters that take the rest of their word, or the next one, as a value that matters to nobody here. */
  readonly valued?: string;
  /** The first argument is a cluster of letters even without a dash: `tar cf x`. */
  readonly bundled?: true;
  /** Long options may begin with one dash, or more than two: `sqlite3 -cmd`, `npm ---call`. */
  readonly oneDash?: true;
  /** Long options whose two next arguments are values, whatever those look like. */
  readonly pairs?: RegExp;
  /** Commas stand for the blanks of a command: `gcc -wrapper a,b`. */
  readonly commaSeparated?: true;
  /** `NAME=value` among its arguments is as good as one in its environment. */
  readonly variables?: true;
  /** Only after these subcommands do its arguments run anything; what is not known matters nowhere else. */
  readonly only?: RegExp;
  /** What stands first, and is one word, is the place to connect to. */
  readonly connects?: true;
  /** What it may be told in a language of its own to run something. Matched against every argument; a group is the command. */
  readonly text?: RegExp;
}

const EDITOR: RunningOptions = { steer: 'cmd eval execute script', steerLetters: 'cSsEeul', text: /^\+(?!\d*$)/ };
const EMACS: RunningOptions = { steer: 'eval execute script load funcall batch', steerLetters: 'fle', oneDash: true };
const MAKE: RunningOptions = {
  ...{ steer: 'eval', steerLetters: 'E', valued: 'CIOWo', file: 'file makefile', fileLetters: 'f' },
  // `A!=x` runs x, and so does `A:=$(shell x)`.
  ...{ text: /^\.SHELLFLAGS[:+?!]*=|^[^=]*!=(.*)$|\$[({]/s, variables: true },
};
const SHELL_IN_SQL = {
  sqlite3:
    /^-A|(?:^|\n)\s*\.(?!(?:tables?|schema|headers?|mode|databases|dump|indexes|indices|width|help|quit|exit|stats|timer|nullvalue|separator|echo|changes|bail|show|fullschema|version)\b)|\b(?:load_extension|writefile|readfile|edit|fts3_tokenizer)\b["'`\]]?\s*(?:\(|\/\*|--)|\battach\b|\bvacuum\b[^]*\binto\b/i,
  psql: /\\(?!d|l\b|l\+|x\b|c\b|conninfo|q\b|timing|pset|z\b|echo|t\b|a\b|h\b|n|\\)|\bprogram\b|^(?:-\w*o|--output=)?\|(.*)$/is,
  mysql: /\\[!P.]|(?:^|[;\n'"])\s*(?:system|pager|source|tee)\b|\binto\s+(?:out|dump)file\b|\bload_file\b/i,
};
const HG: RunningOptions = { steer: 'config config-file', text: /^(?:--config=)?[\w-]+\.[^=]*=!?(.*)$/s };
const BAZEL: RunningOptions = { command: 'run_under workspace_status_command' };
const TEX: RunningOptions = { steer: 'shell-escape enable-write18', oneDash: true };
/** Where it begins: a line, the end, a word looked for. */
const PAGER_START = /^\+(?!(?:[Fg]|\d*G?|\/[^\n\r!|&]*)$)/;
const MYSQL: RunningOptions = {
  command: 'pager',
  steer: 'defaults-file defaults-extra-file',
  text: SHELL_IN_SQL.mysql,
};
/** Commands of its own to begin with, and settings that name programs. */
const MAIL: RunningOptions = { steer: 'exec', steerLetters: 'EXYS', valued: 'sacbrut' };
const MUTT: RunningOptions = { steerLetters: 'eF', valued: 'sabciHf' };
const EVALUATES = /^(?:-e|--eval(?:=.*)?)$/s;
const APT: RunningOptions = { steer: 'option config-file', steerLetters: 'oc', valued: 'ta' };
const SQLITE: RunningOptions = { steer: 'cmd init', oneDash: true, text: SHELL_IN_SQL.sqlite3 };
const RPM: RunningOptions = { command: 'pipe', steer: 'eval define load macros rcfile undefine', steerLetters: 'ED' };
const NPM: RunningOptions = {
  oneDash: true,
  command: 'script-shell shell editor viewer git',
  ...{ steer: 'node-options userconfig globalconfig init-module' },
  only: /^(?:config|c|set|edit|explore|exec|x|help|init|create|innit)$/,
};
const TAR: RunningOptions = {
  command: 'to-command use-compress-program rmt-command rsh-command info-script new-volume-script',
  ...{ steer: 'checkpoint-action', commandLetters: 'IF', valued: 'fCTXbgKNVLH', bundled: true },
};

const COMPILER: RunningOptions = {
  ...{ command: 'wrapper', commaSeparated: true, oneDash: true },
  text: /^(?:--?(?:fplugin|specs|ld-path|iplugindir)|-B|@|-fuse-ld=.*\/)/,
};

const RUNNING_OPTIONS: Readonly<Record<string, RunningOptions>> = {
  tar: TAR,
  gtar: TAR,
  bsdtar: { command: 'use-compress-program', valued: 'fCTX' },
  cpio: { command: 'rsh-command' },
  zip: { command: 'unzip-command', text: /^-\w*TT/ },
  rsync: { command: 'rsh rsync-path', commandLetters: 'e', valued: 'fBT' },
  sort: { command: 'compress-program' },
  install: { command: 'strip-program' },
  sdiff: { command: 'diff-program' },
  diff3: { command: 'diff-program' },
  split: { command: 'filter' },
  make: MAKE,
  gmake: MAKE,
  man: { command: 'pager html', commandLetters: 'PH', steer: 'config-file', steerLetters: 'C' },
  bat: { command: 'pager' },
  batcat: { command: 'pager' },
  delta: { command: 'pager' },
  rg: { command: 'pre hostname-bin' },
  ag: { command: 'pager' },
  ack: { command: 'pager', steer: 'ackrc' },
  strace: { text: /^(?:-\w*o|--output=)?[|!](.*)$/s, only: /^$/ },
  less: { steer: 'lesskey-file lesskey-src lesskey-content', steerLetters: 'k', text: PAGER_START },
  more: { text: PAGER_START },
  nano: { command: 'speller', steer: 'rcfile', commandLetters: 's', steerLetters: 'f' },
  emacsclient: { steer: 'eval', steerLetters: 'e' },
  rpm: RPM,
  rpmbuild: RPM,
  rpmspec: RPM,
  sqlite3: SQLITE,
  sqlite: SQLITE,
  sqlcipher: SQLITE,
  psql: { connects: true, file: 'file', fileLetters: 'f', valued: 'cdhpUvPFR', text: SHELL_IN_SQL.psql },
  mysql: MYSQL,
  mariadb: MYSQL,
  duckdb: {
    ...{ steer: 'init', oneDash: true },
    text: /^\s*\.(?:sh|shell|system)\s+(.*)$|(?:^|[\n;])\s*\.(?:sh|sy|o|r|exc|im)\w*|\b(?:load|install)\s+'?\w|\b(?:copy|attach)\b|\b(?:from|read_\w+\s*\()\s*\[?\s*'(?:[/~]|[^']*\.\.)/is,
  },
  mongosh: { steer: 'eval', file: 'file', fileLetters: 'f' },
  mongo: { steer: 'eval' },
  // Files that a program in their own language names.
  jq: { text: /\b(?:import|include)\s+"/, pairs: /^--(?:arg|argjson|slurpfile|rawfile)$/ },
  yq: { text: /\bload(?:_\w+)?\s*\(/ },
  clojure: { text: EVALUATES },
  clj: { text: EVALUATES },
  bb: { text: EVALUATES },
  kotlin: { text: /^-(?:e|expression)$/ },
  mix: { text: EVALUATES, only: /^run$/ },
  smbclient: { valued: 'UWIpmODTAtb', text: /(?:^|[;\n])\s*!/ },
  mail: MAIL,
  mailx: MAIL,
  's-nail': MAIL,
  mutt: MUTT,
  neomutt: MUTT,
  cmake: { steerLetters: 'EP', fileLetters: 'C', valued: 'DUBSGTAW', variables: true },
  ctest: { steer: 'script script-new-process', fileLetters: 'S' },
  cpack: { file: 'config' },
  ninja: { fileLetters: 'f', valued: 'Cjkldt' },
  groff: { steerLetters: 'U' },
  troff: { steerLetters: 'U' },
  pic: { steerLetters: 'U' },
  nroff: { steerLetters: 'U' },
  bazel: BAZEL,
  bazelisk: BAZEL,
  helm: { command: 'post-renderer' },
  hg: HG,
  svn: { command: 'diff-cmd diff3-cmd editor-cmd', steer: 'config-option config-dir' },
  latexmk: { steerLetters: 'er', valued: 'pdxloqCcfgnsuv', text: /^-+\w*latex=(.*)$/s },
  pdflatex: TEX,
  latex: TEX,
  xelatex: TEX,
  lualatex: TEX,
  rake: {
    steer: 'execute execute-print execute-continue',
    steerLetters: 'eEp',
    file: 'rakefile',
    fileLetters: 'f',
    valued: 'Ir',
  },
  just: {
    command: 'shell command',
    commandLetters: 'c',
    steer: 'shell-arg chooser',
    file: 'justfile',
    fileLetters: 'f',
  },
  mvn: { text: /^exec:|^-Dexec\.|^-D(?:jvm|.*executable)=/ },
  gradle: { steer: 'init-script', steerLetters: 'I' },
  java: { text: /^-(?:javaagent|agentpath|agentlib|XX:On)/ },
  go: { steer: 'toolexec exec vettool', oneDash: true, text: /-extld[= ]+['"]?([^\s'"]+)/ },
  cargo: { steer: 'config', text: /^target\..*(?:runner|linker)|^build\.rustc|^(?:-C)?linker=(.*)$/s },
  rustc: { text: /^(?:-C|--codegen=)?linker=(.*)$/s },
  'ssh-keygen': { steerLetters: 'D', valued: 'fCNPbt' },
  'ssh-add': { steerLetters: 's' },
  ld: { steer: 'plugin', oneDash: true },
  docker: { only: /^(?:run|create|compose|container)$/ },
  npm: NPM,
  pnpm: NPM,
  pip: { steer: 'editor python', only: /^config$/ },
  systemctl: { text: /^edit$/, only: /^edit$/ },
  kubectl: { text: /^edit$/, only: /^edit$/ },
  dpkg: { command: 'pre-invoke post-invoke status-logger' },
  apt: APT,
  'apt-get': APT,
  'apt-cache': APT,
  'apt-mark': APT,
  'apt-config': APT,
  aptitude: APT,
  openssl: { steer: 'engine provider provider-path', oneDash: true },
};

const COMPILERS = /^(?:\w+-)*(?:g?cc|c[89]9|[cg]\+\+|clang|clang\+\+|gfortran|gnat\w*|gdc|gccgo|nvcc|cpp)(?:-[\d.]+)?$/;
const EDITORS = /^(?:n?vi|[rgn]?vim|[rg]?view|[rgn]?vimdiff|evim|eview|ex)$/;

export function runningOptionsOf(program: string): RunningOptions | undefined {
  if (Object.hasOwn(RUNNING_OPTIONS, program)) return RUNNING_OPTIONS[program];
  if (isCompiler(program)) return COMPILER;
  if (program.startsWith('emacs')) return EMACS;
  if (/^pip[\d.]+$/.test(program)) return RUNNING_OPTIONS['pip'];
  return isEditor(program) ? EDITOR : undefined;
}

export function isCompiler(program: string): boolean {
  return COMPILERS.test(program);
}

/** Distributions call their variants `vim.basic` and the like. */
export function isEditor(program: string): boolean {
  const dot = program.indexOf('.');
  return EDITORS.test(dot === -1 ? program : program.slice(0, dot));
}
