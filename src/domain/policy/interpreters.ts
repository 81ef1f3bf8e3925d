import { HOLE, literal, type Field } from '../command/expand.ts';
import { doubt, isUnsure, type Consequence } from './consequence.ts';
import { isHarmlessSed } from './sed.ts';
import { isStream } from './shells.ts';

interface Interpreter {
  /** Options that take code as their value, or take it from the first operand. */
  readonly code: RegExp;
  /** Short options whose value is the next argument. */
  readonly valued?: RegExp;
}

const PYTHON: Interpreter = { code: /^-[a-zA-Z]*c/, valued: /^-[WXQ]$/ };
const NODE: Interpreter = {
  code: /^-(?:e|p|pe)$|^--(?:eval|print)\b|^-i$|^--interactive$/,
  valued: /^(?:-r|-C|--require|--import|--loader|--conditions|--env-file|--test-name-pattern|--test-reporter)$/,
};
const INTERPRETERS: Readonly<Record<string, Interpreter>> = {
  python: PYTHON,
  pypy: PYTHON,
  perl: { code: /^-[a-zA-Z0-9]*[eEMmd]/, valued: /^-[I]$/ },
  ruby: { code: /^-[a-zA-Z0-9]*e/, valued: /^-[rIEC]$/ },
  node: NODE,
  nodejs: NODE,
  deno: { code: /^(?:eval|repl)$|^-e$/ },
  bun: { code: /^-[ep]$|^--(?:eval|print)\b|^(?:exec|repl)$/ },
  php: { code: /^-[rBRE]$|^--(?:run|process-)/, valued: /^-[dcz]$/ },
  lua: { code: /^-[ei]/, valued: /^-l$/ },
  luajit: { code: /^-[ei]/, valued: /^-l$/ },
  r: { code: /^-e$/ },
  rscript: { code: /^-e$/ },
  julia: { code: /^-[eE]$|^--(?:eval|print)\b/ },
  elixir: { code: /^-e$|^--(?:eval|rpc-eval)\b/ },
  erl: { code: /^-(?:eval|run|s)$/ },
  groovy: { code: /^-e$/ },
  scala: { code: /^-e$/ },
  ghc: { code: /^-e$/ },
  osascript: { code: /^-e$/ },
  tclsh: { code: /^-c$/ },
  wish: { code: /^-c$/ },
  guile: { code: /^-c$/ },
  racket: { code: /^-e$/ },
  sbcl: { code: /^--eval$/ },
  swipl: { code: /^-[gt]$/ },
  octave: { code: /^--eval$/ },
  tsx: NODE,
  'ts-node': NODE,
  ocaml: { code: /^-e$/ },
  gforth: { code: /^-e$|^--evaluate/ },
  clisp: { code: /^-x$/ },
  swift: { code: /^-e$/ },
  gnuplot: { code: /^-e$/ },
  jrunscript: { code: /^-e$/, valued: /^-(?:l|cp|classpath)$/ },
};
const PRINTS_TO_FILE = /\bprintf?\b[^;}\n]*>/;
const REMOTE = /^(?:https?|data|npm|jsr|node):/;
/** Modules that run code they are given, or a program. */
const MODULE = /^(?:timeit|pdb|trace|code|cProfile|profile|runpy|pty|idlelib|asyncio)$/;

export function interpreterOf(program: string): string | undefined {
  const name = program.replace(/(?:[-.\d]+|w)$/, '');
  if (Object.hasOwn(INTERPRETERS, program)) return program;
  return Object.hasOwn(INTERPRETERS, name) ? name : undefined;
}

/** Whether what it runs from its input reads as nothing that a shell knows. */
export function speaksOwnLanguage(program: string): boolean {
  return interpreterOf(program) !== undefined || /^(?:sqlite3|psql|mysql|mariadb|duckdb|mongosh)$/.test(program);
}

/** Code in another language says nothing to us; a file of it is a program like any other. */
export function interpreter(program: string, name: string, args: readonly Field[]): readonly Consequence[] {
  const known = INTERPRETERS[name];
  let at = 0;
  for (; at < args.length; at += 1) {
    const field = args[at] ?? literal('');
    const { text, many } = field;
    if (many || text.startsWith(HOLE)) return doubt(`what ${program} is to run is only known when it runs`);
    if (/^-[a-zA-Z]*m/.test(text) && name === 'python' && known?.code.test(text) !== true) {
      const own = text.slice(text.indexOf('m') + 1);
      const module = own === '' ? args[at + 1] : { ...field, text: own };
      if (module === undefined || module.open || MODULE.test(module.text)) return doubt(`${program} -m runs any code`);
      return [];
    }
    if (known?.code.test(text) === true) return doubt(`${program} runs code in a language of its own`);
    if (/^--?(?:version|help|test|V|v|h|\?)$/.test(text)) return [];
    if (!/^-./.test(text)) break;
    const loaded = /^(?:-r|--(?:require|import|(?:experimental-)?loader))(?:=(.*))?$/s.exec(text);
    if (loaded !== null && REMOTE.test(loaded[1] ?? args[at + 1]?.text ?? ''))
      return doubt(`${program} loads code from elsewhere`);
    if (known?.valued?.test(text) === true) at += 1;
  }
  if (/^(?:deno|bun)$/.test(name) && /^run$/.test(args[at]?.text ?? '')) {
    at = args.findIndex(({ text }, index) => index > at && (text === '-' || !text.startsWith('-')));
  }
  const file = args[at]?.text;
  if (file !== undefined && REMOTE.test(file)) return doubt(`${program} loads code from elsewhere`);
  if (file === undefined || isStream(file)) return [{ type: 'input' }];
  return [{ type: 'file', path: file }];
}

function scriptFile(path = HOLE): Consequence {
  return isStream(path) || path.includes(HOLE) ? { type: 'input' } : { type: 'file', path };
}

/** awk can run commands by `system`, by pipes and by calling a function whose name it computes. */
export function awk(program: string, args: readonly Field[]): readonly Consequence[] {
  const text = args.map((field) => field.text).join('\n');
  if (
    /system|getline|@|--?f(?:ile)?\b|-[eil]\b/.test(text) ||
    text.replaceAll('||', '').includes('|') ||
    PRINTS_TO_FILE.test(text)
  ) {
    return doubt(`this ${program} program may run others or write files`);
  }
  return isUnsure(args.slice(0, 1)) ? doubt(`what ${program} is to run is only known when it runs`) : [];
}

/** GNU sed runs commands by `e`, and by the flag of that name. */
export function sed(program: string, args: readonly Field[]): readonly Consequence[] {
  const scripts: Field[] = [];
  let operands = 0;
  for (let at = 0; at < args.length; at += 1) {
    const field = args[at];
    if (field === undefined) break;
    const { text } = field;
    const attached = /^(?:-[nErsuz]*e(.+)|--ex[a-z]*=(.*))$/s.exec(text);
    if (attached !== null) scripts.push({ ...field, text: attached[1] ?? attached[2] ?? '' });
    else if (/^(?:-[nErsuz]*e|--ex[a-z]*)$/.test(text)) {
      at += 1;
      scripts.push(args[at] ?? field);
    } else if (/^(?:-[nErsuz]*f|--fi)/.test(text))
      return [scriptFile(/^(?:-\w*?f|--\w+=)(.+)$/s.exec(text)?.[1] ?? args[at + 1]?.text)];
    else if (!/^-./.test(text)) {
      if (operands === 0 && scripts.length === 0) scripts.push(field);
      operands += 1;
    }
  }
  const isHarmless = scripts.every(({ text, many }) => !many && isHarmlessSed(text));
  return isHarmless ? [] : doubt(`this ${program} script may run others`);
}
