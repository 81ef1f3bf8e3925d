import { MADE, type Field } from '../../command/expand.ts';
import { knownProgram } from '../programs/known-program.ts';
import { isOnlySaid } from '../second-look/only-said.ts';
import { formOf } from '../paths/forms.ts';

/** A part that is not known, but for what a glob matches. */
const UNKNOWN = '\\0(?!\\ufdd0)\\ufdd1?';
const IN_OPTION = new RegExp(`^-[^=]*${UNKNOWN}`);
/** `-j$(nproc)`, `-I$DIR`: a letter that takes the rest as its value with every program that has it. */
const VALUE_OF_LETTER = new RegExp(`^-[jnPCpItLlDOkwT]${UNKNOWN}[^A-Za-z]*$`);
const BESIDE_LETTERS = new RegExp(`[A-Za-z]${UNKNOWN}|${UNKNOWN}[A-Za-z]`);

/**
 * Whether a program that may run others is given a word that says nothing of what it will be: one of which a part stands beside
 * letters, or in the name of an option, and is only known when it runs (`"-$x"c`, `s"$x"udo`), or one that the line itself makes up
 * as it runs (`"$(printf %s --exec=x)"`).
 */
export function isToldInParts(program: string, args: readonly Field[]): boolean {
  if (!args.some(({ open }) => open)) return false;
  const unknown = args.filter(({ open, found }) => open && found !== true);
  const { language, isShell, options, special, isAwk, isSed, isWrapper, takesWords } = knownProgram(program);
  const runsCode = language !== undefined || isShell;
  const runsOthers = runsCode || isAwk || isSed || options !== undefined || special !== undefined;
  if (!runsOthers && (takesWords || formOf(program) !== undefined)) return false;
  const isOption = ({ text }: Field) => IN_OPTION.test(text) && (runsCode || !VALUE_OF_LETTER.test(text));
  if (unknown.some(isOption)) return true;
  // What an interpreter or a wrapper is given behind what it runs is none of its business.
  const isMadeUp = ({ text }: Field) => !runsCode && !isWrapper && text.startsWith(MADE);
  const isWord = ({ text }: Field) => !IN_OPTION.test(text) && BESIDE_LETTERS.test(text);
  const isSaid = isOnlySaid([program, ...args.map(({ text }) => text)]);
  if (unknown.some(isWord) && !isSaid) return true;
  // It may be an option, whatever becomes of words.
  return unknown.some(isMadeUp) && !(isSaid && (!runsOthers || /^(?:git|gh|glab|hub)$/.test(program)));
}

const ANY = '(?:\\0[\\ufdd0\\ufdd1]?|\\uffff)';
/**
 * How words are put together that cannot be more than they seem, whatever is filled in, nothing included: they begin with what begins
 * no option, or they are one by what is written (`--x=$y`, `-j$n`).
 */
const PLAINLY_PUT_TOGETHER = new RegExp(
  `^(?:${ANY}+(?:[^-+;{(!][^]*)?|[^-+\\0\\uffff][^]*|--?[\\w-]+=[^]*|-[A-Za-z]${ANY}[^A-Za-z]*(?:[/:.][^]*)?|[-+]\\uffff+\\d*)$`,
);

/** Whether a word of which a part is only known when it runs has another form than those. */
export function isOddlyPutTogether({ text, open }: Field): boolean {
  return open && !PLAINLY_PUT_TOGETHER.test(text);
}

/** They have no option that could do more than to say it otherwise. */
export function isPlainSaying(program: string): boolean {
  return SAYS.test(program);
}

const SAYS =
  /^(?:echo|ls|cat|grep|egrep|fgrep|head|tail|wc|cut|tr|uniq|basename|dirname|date|seq|expr|sleep|kill|mkdir|touch|cp|mv|rm|ln|chmod|chown)$/;
