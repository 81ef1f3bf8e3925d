import { HOLE, type Field } from '../../command/expand.ts';
import { doubt, isUnsure, type Consequence } from './consequence.ts';
import { isStandardInput, mayBeStream } from '../reading/streams.ts';

/** Shells whose scripts read as bash does, as far as it matters here. */
const BOURNE: ReadonlySet<string> = new Set(
  'sh bash rbash dash ash ksh ksh93 mksh lksh oksh posh static-sh bash-static'.split(' '),
);
const OTHERS: ReadonlySet<string> = new Set(
  'zsh fish csh tcsh yash pwsh powershell cmd nu elvish xonsh rc es'.split(' '),
);
/** Files that hold what somebody has said, and are no scripts: messages, settings, data. */
const NO_SCRIPT = /\.(?:json|md|txt|toml|ya?ml|lock|pub|zip|csv|log|patch|diff|html|xml)$/;
/** With one dash or two. */
const LONG = /^--(?:login|norc|noprofile|verbose|version|help|restricted|noediting|debugger|dump-strings)$/;
/** Options that change nothing of how words are read, nor where commands come from. */
const PLAIN_NAME =
  /^(?:errexit|errtrace|functrace|nounset|pipefail|verbose|xtrace|noclobber|noexec|monitor|notify|ignoreeof|allexport|privileged|interactive-comments|nolog|emacs|vi)$/;
const PLAIN_SHOPT =
  /^(?:-[supqo]+|nullglob|failglob|inherit_errexit|localvar_inherit|execfail|checkwinsize|huponexit|nocasematch|progcomp\w*|cmdhist|lithist|checkjobs|direxpand|dirspell|mailwarn|no_empty_cmd_completion|promptvars)$/;
const PLAIN_LETTERS = /^(?:-[aceEfhlmnprtTuvxbCPsoO]+|\+[aefhmnuvxbCO]+)$/;
/** `set -k`, `set +B`: letters after which words mean something else. */
const REREADING_LETTERS = /^-.*[HkB]|^\+.*[Bk]/;

/** Bash itself, and what runs a text in the shell that it stands in. */
const BASH: ReadonlySet<string> = new Set(
  ['a substitution', 'an expansion', 'a here-document'].concat(
    'bash rbash bash-static eval trap alias mapfile readarray declare local typeset'.split(' '),
  ),
);

/** Whether a text that this has run is read by bash, and not by whatever `sh` is. */
export function readsAsBash(program: string): boolean {
  return BASH.has(program);
}

export function isShell(program: string): boolean {
  return BOURNE.has(program) || OTHERS.has(program);
}

/** Whether an option, by its long name, changes how the rest is read; one that nobody knows may. */
function rereads({ text, open, many, glob }: Field): boolean {
  return open || many || glob || !(PLAIN_NAME.test(text) || PLAIN_SHOPT.test(text));
}

export function rereadsShopt({ text, open, many, glob }: Field): boolean {
  return open || many || glob || !PLAIN_SHOPT.test(text);
}

/** The names of options behind letters of which each takes the next argument. */
function namesBehind(args: readonly Field[], at: number, taking: RegExp): readonly Field[] {
  const count = args[at]?.text.match(taking)?.length ?? 0;
  return args.slice(at + 1, at + 1 + count);
}

/** The options among the arguments of `set` that change how the rest is read. */
export function rereadingOptions(args: readonly Field[]): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const field = args[at];
    if (field === undefined || field.text === '--' || field.text === '-') break;
    if (field.many || field.text.startsWith(HOLE)) found.push('what is not known');
    if (!/^[-+]./.test(field.text)) break;
    if (REREADING_LETTERS.test(field.text)) found.push(field.text);
    const names = namesBehind(args, at, /o/g);
    found.push(...names.filter(rereads).map(({ text }) => text));
    at += names.length;
  }
  return found;
}

function isPlainFile({ text, open, many, found }: Field): boolean {
  if (many) return /^[\w./]/.test(text);
  return found === true || (!open && !/^[-+]/.test(text));
}

/** What of a script is known is read all the same: it may name who is blocked. */
function said(program: string, takesText: boolean, operand: Field | undefined): readonly Consequence[] {
  if (!takesText || !BOURNE.has(program) || operand === undefined || operand.many) return [];
  return [{ type: 'script', text: operand.text }];
}

/** `bash -lc '…'`, `bash script`, `bash -s`, `bash`. */
export function shell(program: string, args: readonly Field[]): readonly Consequence[] {
  // It reads, and runs nothing.
  if (args[0]?.text === '-n' && args.length > 1 && args.slice(1).every(isPlainFile)) return [];
  let takesText = false;
  let takesInput = false;
  let at = 0;
  const reread: Consequence[] = [];
  for (; at < args.length; at += 1) {
    const text = args[at]?.text ?? '';
    if (text === '--' || text === '-') {
      at += 1;
      break;
    }
    if (text.startsWith('--')) {
      if (/^--(?:rcfile|init-file)$/.test(text)) return doubt(`${program} ${text} runs a file first`);
      if (!LONG.test(text)) return doubt(`${program} has an option nobody knows: ${text}`);
      continue;
    }
    // An option of no letters to the shell, and no name of a file.
    if (text === '+') return doubt(`${program} has an option nobody knows: +`);
    if (!/^[-+]./.test(text)) break;
    if (text.startsWith('-') && text.includes('c')) takesText = true;
    if (text.startsWith('-') && text.includes('s')) takesInput = true;
    if (!PLAIN_LETTERS.test(text) || LONG.test(`-${text}`))
      reread.push(...doubt(`${program} ${text} changes how the rest is read`));
    const names = namesBehind(args, at, /[oO]/g);
    const changing = names.find(rereads);
    if (changing !== undefined) reread.push(...doubt(`${changing.text} changes how the rest is read`));
    at += names.length;
  }
  if (isUnsure(args.slice(0, at + 1)) && (takesText || args[at]?.many === true || isUnsure(args.slice(0, at)))) {
    return [...said(program, takesText, args[at]), ...doubt(`what ${program} is to run is only known when it runs`)];
  }
  const operand = args[at]?.text;
  if (args.slice(0, at + 1).some(({ expanded }) => expanded !== undefined))
    reread.push(...doubt(`what ${program} is to run is put together when it runs`));
  if (takesText && operand !== undefined) {
    const script: Consequence = { type: 'script', text: operand };
    return BOURNE.has(program)
      ? [script, ...reread]
      : [script, ...doubt(`${program} reads its scripts in its own way`)];
  }
  if (takesInput || operand === undefined || isStandardInput(operand)) return [{ type: 'input' }, ...reread];
  if (mayBeStream(operand)) return doubt(`what ${program} runs comes from another stream`);
  if (operand.includes(HOLE)) return doubt(`which file ${program} is to run is only known when it runs`);
  const isScript = !NO_SCRIPT.test(operand);
  return [
    { type: 'file', path: operand },
    ...reread,
    ...(isScript ? [] : doubt(`what ${program} finds in ${operand} is whatever was said there`)),
  ];
}
