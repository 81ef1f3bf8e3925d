import { HOLE, literal, type Field } from '../../command/expand.ts';
import { doubt, type Consequence } from './consequence.ts';
import { onlySubstitutes } from './perl.ts';
import { codeFrom, isStream } from '../reading/streams.ts';

interface Interpreter {
  /** Options that take code as their value, or take it from the first operand. */
  readonly code: RegExp;
  /** Short options whose value is the next argument. */
  readonly valued?: RegExp;
  /** Long options without a value. */
  readonly flags?: RegExp;
}

const FLAGS =
  /^--(?:\w*jit|watch|hot|esm|transpile-only|files|verbose|debug|quiet|(?:no|enable|disable|allow)-[\w-]+)$/;

const PYTHON: Interpreter = { code: /^-[a-zA-Z]*c/, valued: /^-[WXQ]$/ };
const NODE: Interpreter = {
  code: /^-(?:e|p|pe)$|^--(?:eval|print)\b|^-i$|^--interactive$/,
  valued: new RegExp(
    `^(?:-[rCPO]|--(?:${[
      'require|import|(?:experimental-)?loader|conditions|env-file(?:-if-exists)?|title|disable-(?:warning|proto)|input-type|icu-data-dir',
      'test-(?:name-pattern|skip-pattern|reporter|reporter-destination|concurrency|shard|timeout|isolation|coverage-\\w+)|watch-path',
      'allow-fs-(?:read|write)|build-snapshot-config|cpu-prof-\\w+|heap-prof-\\w+|diagnostic-dir|dns-result-order|max-http-header-size',
      'experimental-(?:default-type|policy|sea-config|config-file)|heapsnapshot-[\\w-]+|debug-port|inspect-(?:port|publish-uid)',
      'openssl-config|policy-integrity|redirect-warnings|report-(?:dir|directory|filename|signal)|secure-heap(?:-min)?|snapshot-blob',
      'stack-trace-limit|tls-(?:cipher-list|keylog)|trace-(?:event-[\\w-]+|require-module)|unhandled-rejections|use-largepages|v8-pool-size',
      'network-family-autoselection-attempt-timeout|localstorage-file|tsconfig|project|dir|cwd|compiler|ignore',
    ].join('|')}))$`,
  ),
  flags:
    /^--(?:no-[\w-]+|enable-[\w-]+|experimental-[\w-]+|trace-[\w-]+|inspect(?:-brk|-wait)?|test(?:-only|-force-exit|-update-snapshots)?|watch(?:-preserve-output)?|check|preserve-symlinks(?:-main)?|(?:throw|pending)-deprecation|expose-gc|(?:cpu-|heap-)?prof(?:-process)?|openssl-legacy-provider|permission|allow-[\w-]+|use-[\w-]+-ca|jitless|frozen-intrinsics|abort-on-uncaught-exception|esm|transpile-only|files|swc)$/,
};
const INTERPRETERS: Readonly<Record<string, Interpreter>> = {
  python: PYTHON,
  ipython: PYTHON,
  bpython: PYTHON,
  ptpython: PYTHON,
  jython: PYTHON,
  pypy: PYTHON,
  perl: { code: /^-[a-zA-Z0-9]*[eEMmdF]/, valued: /^-[I]$/ },
  ruby: { code: /^-[a-zA-Z0-9]*e/, valued: /^-[rIEC]$/ },
  node: NODE,
  nodejs: NODE,
  deno: { code: /^(?:eval|repl)$|^-e/ },
  bun: { code: /^-[ep]|^--(?:eval|print)\b|^(?:exec|repl)$/ },
  php: { code: /^-[aCeHilmnqsvw]*[rBRE]|^--(?:run|process-)/, valued: /^-[dcztS]$/ },
  lua: { code: /^-[ei]/, valued: /^-l$/ },
  luajit: { code: /^-[ei]/, valued: /^-l$/ },
  r: { code: /^-e/ },
  rscript: { code: /^-e/ },
  julia: { code: /^-[qi]*[eE]|^--(?:eval|print)\b/ },
  elixir: { code: /^-e|^--(?:eval|rpc-eval)\b/ },
  erl: { code: /^-(?:eval|run|s)$/ },
  groovy: { code: /^-e/ },
  scala: { code: /^-e/ },
  ghc: { code: /^-e/ },
  osascript: { code: /^-e/ },
  tclsh: { code: /^-c/, valued: /^-encoding$/ },
  wish: { code: /^-c/, valued: /^-encoding$/ },
  guile: { code: /^-c/ },
  racket: { code: /^-e/ },
  sbcl: { code: /^--eval$/ },
  swipl: { code: /^-[gt]/ },
  octave: { code: /^--eval$/ },
  tsx: NODE,
  'ts-node': NODE,
  ocaml: { code: /^-e/ },
  gforth: { code: /^-e|^--evaluate/ },
  clisp: { code: /^-x/ },
  swift: { code: /^-e/ },
  gnuplot: { code: /^-e/ },
  irb: { code: /^-e/, valued: /^-[rIE]$/ },
  pry: { code: /^-e|^--exec/, valued: /^-[rI]$/ },
  ghci: { code: /^-e/ },
  runghc: { code: /^-e/ },
  runhaskell: { code: /^-e/ },
  iex: { code: /^-e|^--(?:eval|rpc-eval|dot-iex)\b/, valued: /^-[Sr]$/ },
  raku: { code: /^-[a-z]*e/, valued: /^-[IM]$/ },
  jshell: { code: /^/ },
  qjs: { code: /^-[a-z]*e|^--eval\b/ },
  gjs: { code: /^-c|^--command\b/ },
  coffee: { code: /^-[a-z]*[ei]|^--(?:eval|interactive)\b/, valued: /^-[or]$/ },
  'babel-node': NODE,
  'vite-node': NODE,
  esno: NODE,
  zx: { code: /^-e|^--eval\b/ },
  jrunscript: { code: /^-e/, valued: /^-(?:l|cp|classpath)$/ },
};
const REMOTE = /^(?:https?|data|npm|jsr|node):/;
const LOADED = /^(?:-r|--(?:require|import|(?:experimental-)?loader))(?:=(.*))?$/s;
const SAYS_WHAT_IT_IS = /^(?:--version|--help|-V|-h|-\?)$/;
const ENDS_AFTER_VERSION = /^(?:node|nodejs|tsx|ts-node|perl|php|bun)$/;
/** Modules that run code they are given, or a program. */
const MODULE =
  /^(?:timeit|pdb|bdb|trace|code|codeop|cProfile|profile|runpy|pty|idlelib|asyncio|imaplib|pickle|pydoc|webbrowser|mailcap|inspect|test|debugpy|pudb|ipdb)(?:\.|$)/;
/** Modules that are programs which we know by themselves. */
const PROGRAM_MODULE = /^(?:pip|ipython|bpython|ptpython)$/i;
/** They have no such option: what looks like one is no reason not to read their input. */
const NEVER_SAYS = /^(?:tclsh|wish|erl|ocaml|jrunscript|osascript)$/;

export function interpreterOf(program: string): string | undefined {
  if (Object.hasOwn(INTERPRETERS, program)) return program;
  // `python3.11`, `pythonw`, `perl5.36-x86_64-linux-gnu`: most names have no version in them.
  const digit = firstDigit(program);
  if (digit < 1 && !program.endsWith('w')) return undefined;
  if (program.endsWith('-config')) return undefined;
  // What ends it is sought from the first of a row on: from each of them it would take as long as there are more.
  const name = digit < 1 ? program.slice(0, -1) : program.slice(0, digit).replace(/(?<![-.])[-.]+$/, '');
  return Object.hasOwn(INTERPRETERS, name) ? name : undefined;
}

/** -1 if there is none. */
function firstDigit(text: string): number {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) return at;
  }
  return -1;
}

/** Code in another language says nothing to us; a file of it is a program like any other. */
export function interpreter(program: string, name: string, args: readonly Field[]): readonly Consequence[] {
  const { code, valued, flags = FLAGS } = INTERPRETERS[name] ?? { code: /^-e/ };
  if (args.length === 1 && args[0]?.text === '-v' && name !== 'python' && name !== 'pypy') return [];
  if (name === 'perl' && onlySubstitutes(args)) return [];
  // `perl '-w -e'` has two options in one word.
  if (args.some(({ text }) => /^-\S*\s/.test(text) || /=\s*(?:data|https?):/.test(text)))
    return doubt(`${program} has an option nobody knows`);
  const loads: Consequence[] = [];
  let at = 0;
  for (; at < args.length; at += 1) {
    const field = args[at] ?? literal('');
    const { text, many, glob } = field;
    // What a glob matches below a directory is a file of that directory.
    const isFile = glob && /^[\w.][^*?[]*\//.test(text);
    if ((many && !isFile) || text.startsWith(HOLE))
      return doubt(`what ${program} is to run is only known when it runs`);
    if (/^-[a-zA-Z]*m/.test(text) && name === 'python' && !code.test(text)) {
      const own = text.slice(text.indexOf('m') + 1);
      const module = own === '' ? args[at + 1] : { ...field, text: own };
      if (module === undefined || module.open || MODULE.test(module.text)) return doubt(`${program} -m runs any code`);
      const given = args.slice(own === '' ? at + 2 : at + 1);
      // `-m unittest code.interact` calls what it names.
      if (given.some((each) => MODULE.test(each.text))) return doubt(`${program} -m runs any code`);
      if (PROGRAM_MODULE.test(module.text))
        return [{ type: 'command', fields: [literal(module.text.toLowerCase()), ...given] }];
      // It runs the examples in the files it is given.
      return module.text === 'doctest'
        ? given.flatMap(({ text: path }) => (/^-./.test(path) ? [] : [codeFrom(path)]))
        : [];
    }
    if (name === 'python' && /^-[a-zA-Z]*i/.test(text)) loads.push({ type: 'input' });
    if (code.test(text)) return doubt(`${program} runs code in a language of its own`);
    // Not every one of them stops there: what comes after must be harmless, too.
    if (saysWhatItIs(name, text))
      return args.slice(at).some((each) => code.test(each.text))
        ? doubt(`${program} runs code in a language of its own`)
        : [];
    if (!/^-./.test(text)) break;
    const [, attached] = LOADED.exec(text) ?? [];
    const loaded = LOADED.test(text) ? (attached ?? args[at + 1]?.text ?? HOLE) : undefined;
    if (loaded !== undefined && (REMOTE.test(loaded) || isStream(loaded)))
      return doubt(`${program} loads code from elsewhere`);
    if (loaded !== undefined && /^[./~]/.test(loaded)) loads.push({ type: 'file', path: loaded });
    const option = text.replaceAll('_', '-');
    if (valued?.test(option) === true) at += 1;
    // Whether the next argument is its value, or what is run, nobody knows.
    else if (/^--[^=]+$/.test(text) && !flags.test(option) && /^[^-]/.test(args[at + 1]?.text ?? ''))
      return doubt(`${program} has an option nobody knows: ${text}`);
  }
  if (/^(?:deno|bun)$/.test(name) && /^run$/.test(args[at]?.text ?? '')) {
    at = args.findIndex(({ text }, index) => index > at && (text === '-' || !text.startsWith('-')));
  }
  const file = args[at]?.text;
  if (file !== undefined && REMOTE.test(file)) return doubt(`${program} loads code from elsewhere`);
  // It serves, or says what it is.
  if (name === 'php' && file === undefined && args.some(({ text }) => /^-[Sim]$/.test(text))) return loads;
  // It looks for the tests by itself.
  if (file === undefined && args.some(({ text }) => text === '--test')) return loads;
  if (file === undefined) return [...loads, { type: 'input' }];
  // What it can be told to do is known of a few.
  if (PROJECT_SCRIPT.test(file)) loads.push({ type: 'command', fields: args.slice(at) });
  return [...loads, codeFrom(file), ...(PIPES.test(name) ? piped(args.slice(at + 1), program) : [])];
}

/** Scripts that every project of a framework has. */
const PROJECT_SCRIPT = /(?:^|\/)(?:manage\.py|artisan|rails)$/;

function saysWhatItIs(name: string, option: string): boolean {
  if (NEVER_SAYS.test(name)) return false;
  return SAYS_WHAT_IT_IS.test(option) || (option === '-v' && ENDS_AFTER_VERSION.test(name));
}

/** They may open a file of the name `x|` or `|x` as what x says. */
const PIPES = /^(?:perl|ruby)$/;

function piped(operands: readonly Field[], program: string): readonly Consequence[] {
  return operands.flatMap(({ text }): readonly Consequence[] => {
    const isPipe = /^\s*\||\|\s*$/.test(text);
    return isPipe
      ? [{ type: 'script', text: text.replace(/^\s*\||\|\s*$/g, '') }, ...doubt(`${program} opens a pipe`)]
      : [];
  });
}
