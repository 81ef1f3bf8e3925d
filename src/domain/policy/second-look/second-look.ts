import {
  parse,
  type Command,
  type HereDoc,
  type Pipeline,
  type Redirection,
  type Script,
  type SyntaxNode,
} from 'unbash';
import { hiddenCode, holdsCode } from './hidden-code.ts';
import { blockedIn, laidBare } from './laid-bare.ts';
import { isSaidByOption } from './names.ts';
import { isOnlySaid, programsAlong } from './only-said.ts';
import { programName } from '../../command/wrappers.ts';
import type { Policy } from '../policy.ts';
import { knownProgram } from '../programs/known-program.ts';
import { printedBy, printedInto } from '../reading/printed.ts';
import { isQuiet, readsItself } from './quiet.ts';
import type { Site } from '../reading/reading.ts';
import { childrenOf, commandsIn, expansionsIn, textsIn } from '../reading/syntax.ts';
import { filesOfTexts, filesSaid, joinsTexts, transformedAt } from './transformed.ts';

/** What a second look has found, and where. */
export interface Found extends Site {
  readonly because: string;
  readonly rule?: string;
}

/** What is compared runs nothing, unless it is taken for a number or holds what runs. */
const EVALUATED = /\$\(|`|\[\w|(?:^|\s)-(?:eq|ne|lt|le|gt|ge|v)\s/;
/** `-lcurl` is about a library. */
const LIBRARY = /^-l[\w.+-]+$/;
const MOST_DEPTH = 4;
/**
 * The second look at a line. The first one follows it to what it runs; this one follows nothing. It asks where a blocked
 * name is spelt out, or a text reads as a command line that would be asked about, and whether words that stand there are said and
 * not run: arguments of `echo`, what `grep` looks for, a comment. Any other place counts: a way to run text that nobody has thought of
 * still has to spell out whom it runs, or to hold what puts that together.
 */
export function secondLook(text: string, policy: Policy, given?: Script, depth = 0): Found | undefined {
  const isNamed = blockedIn(text, policy) !== undefined;
  const prints = PRINTS.test(text);
  if (!isNamed && !prints && !holdsCode(text) && !HANDS_ON.test(text)) return undefined;
  const script = given ?? parse(text);
  const found = new SecondLook(text, policy, depth, script).look(script, false);
  return found ?? (prints ? printedOut(script, laidBare(text).toLowerCase(), policy) : undefined);
}

const PRINTS = /printf|echo[^]*echo/;
/** Said to somebody else, who may do more with it than to say it. */
const HANDS_ON = /\b(?:echo|printf)\b[^\n]*\|/;

/** A name that stands nowhere and comes to be when it is printed: nobody does so who only speaks of it. */
function printedOut(script: Script, bare: string, { blockedName }: Policy): Found | undefined {
  const commands = commandsIn(script);
  const printed = [printedBy(commands), ...printedInto(commands)].join('\n').toLowerCase();
  const names = new Set(printed.match(new RegExp(blockedName, 'gi')));
  const [name] = [...names].filter((each) => !bare.includes(each));
  return name === undefined ? undefined : named(name, { start: script.pos, end: script.end });
}

function named(name: string, { start, end }: Site): Found {
  return { because: `${name} is blocked, and it is named here where it may be run`, rule: name, start, end };
}

class SecondLook {
  private readonly source: string;
  private readonly policy: Policy;
  private readonly depth: number;
  /** Nothing on the line could run what is written to a file. */
  private readonly isQuiet: boolean;
  /** Nothing on the line could run what its last command writes. */
  private readonly isAlone: boolean;
  private readonly files: ReadonlySet<string>;
  private readonly said: ReadonlySet<string>;
  private isReadOtherwise = false;

  constructor(source: string, policy: Policy, depth: number, script: Script) {
    this.source = source;
    this.policy = policy;
    this.depth = depth;
    const commands = commandsIn(script);
    this.isQuiet = commands.every(isQuiet);
    this.files = filesOfTexts(commands);
    this.said = filesSaid(commands);
    this.isAlone = script.commands.length === 1 && script.commands[0]?.command.type !== 'AndOr';
  }

  /** `isHandedOn`: what this says goes to somebody who may do more with it than to say it. */
  look(node: SyntaxNode, isHandedOn: boolean): Found | undefined {
    switch (node.type) {
      case 'Command':
        return this.command(node, isHandedOn);
      case 'Pipeline':
        return this.pipeline(node, isHandedOn);
      case 'Redirected':
        return firstOf(childrenOf(node), (child) => this.look(child, isHandedOn || this.writes(node.redirects)));
      case 'For':
        if (node.wordlist !== undefined && this.onlySays(node.body)) return this.look(node.body, isHandedOn);
        return firstOf(childrenOf(node), (child) => this.look(child, isHandedOn));
      case 'CaseItem':
        // Its patterns are compared.
        return this.look(node.body, isHandedOn);
      case 'TestCommand':
        return EVALUATED.test(this.source.slice(node.pos, node.end)) ? this.within(node) : undefined;
      case 'ArithmeticFor':
        return this.within({ pos: node.pos, end: node.body.pos }) ?? this.look(node.body, isHandedOn);
      case 'Redirect':
        return this.madeOf(node);
      case 'Word':
      case 'Assignment':
        return this.within(node) ?? (this.isReadOtherwise ? undefined : this.coded(node)) ?? this.madeHere(node);
      case 'ArithmeticCommand':
        return this.within(node);
      case 'HereDoc':
        return this.fedText(node, false);
      default:
        return firstOf(childrenOf(node), (child) => this.look(child, isHandedOn));
    }
  }

  private pipeline(node: Pipeline, isHandedOn: boolean): Found | undefined {
    let handedOn = isHandedOn;
    const transformed = node.commands[transformedAt(node, this.files)];
    return firstOf(node.commands.toReversed(), (command) => {
      if (command === transformed && (handedOn || this.isWritten(command))) return madeInto(command);
      const found = this.look(command, handedOn);
      handedOn ||= command.type !== 'Command' || !this.says(command);
      return found;
    });
  }

  private isWritten(node: SyntaxNode): boolean {
    return !this.isAlone && node.type === 'Command' && this.writes(node.redirects);
  }

  private command(node: Command, isHandedOn: boolean): Found | undefined {
    const isMade = transformedAt({ commands: [node] }, this.files) === 0 && (isHandedOn || this.isWritten(node));
    if (isMade || joinsTexts(node, this.said)) return madeInto(node);
    const isFile = !isHandedOn && (node.name?.value === 'tee' || (this.says(node) && this.writes(node.redirects)));
    const isSaid = !isHandedOn && !isFile && this.says(node);
    const isLinking = knownProgram(programName(node.name?.value ?? '').toLowerCase()).isCompiler;
    let before = node.name?.value ?? '';
    let isReadOtherwise = readsItself(before);
    return firstOf([...node.prefix, ...node.suffix], (part) => {
      const text = part.type === 'Word' ? part.value : '';
      const isWord =
        part.type !== 'Assignment' && (isSaid || isSaidByOption(text, before) || (isLinking && LIBRARY.test(text)));
      if (part.type === 'HereDoc') return isSaid ? this.madeOf(part) : this.fedText(part, isFile);
      const isOfReader = isReadOtherwise;
      isReadOtherwise ||= readsItself(text);
      before = text;
      if (isWord) return this.madeOf(part);
      this.isReadOtherwise = isOfReader;
      const found = this.look(part, isHandedOn);
      this.isReadOtherwise = false;
      return found;
    });
  }

  /** Whether what is said is written to a file, with somebody on the line who might run that. */
  private writes(redirects: readonly Redirection[]): boolean {
    const isFile = (each: Redirection) =>
      each.type === 'Redirect' &&
      each.operator.includes('>') &&
      !/^(?:\/dev\/null|\d+-?|-)$/.test(each.target?.text ?? '');
    return !this.isQuiet && redirects.some(isFile);
  }

  private onlySays(node: SyntaxNode): boolean {
    return commandsIn(node).every((command) => this.says(command) && !this.writes(command.redirects));
  }

  /** Whether its arguments and its input are but words to a command. */
  private says({ name, args }: Command): boolean {
    if (name === undefined) return false;
    const words = [name, ...args].map((word) => (word.type === 'Word' ? word.value : word.text));
    const [, script] = /^(?:ba|da|z|k)?sh\0-[a-z]*c\0([^\0]*)$/.exec(words.join('\0')) ?? [];
    if (script === undefined)
      return isOnlySaid(words) && !programsAlong(words).some((each) => blockedIn(each, this.policy) !== undefined);
    const isWhole = args.every((arg) => arg.type === 'Word' && expansionsIn(arg).length === 0);
    return (
      isWhole && this.depth < MOST_DEPTH && secondLook(script, this.policy, undefined, this.depth + 1) === undefined
    );
  }

  /** A word that is said may still be put together from what others say. */
  private madeOf(node: SyntaxNode): Found | undefined {
    return firstOf(expansionsIn(node), (part) => {
      const isScript = part.type === 'CommandExpansion' || part.type === 'ProcessSubstitution';
      // One that was decoded first has no place in this text.
      const script = isScript && part.script?.source === undefined ? part.script : undefined;
      return script === undefined ? this.within(part) : this.look(script, false);
    });
  }

  /** What a substitution says is handed on to wherever the word stands. */
  private madeHere(node: SyntaxNode): Found | undefined {
    return firstOf(expansionsIn(node), (part) => {
      const isScript = part.type === 'CommandExpansion' || part.type === 'ProcessSubstitution';
      return isScript && part.script !== undefined && part.script.source === undefined
        ? this.look(part.script, true)
        : undefined;
    });
  }

  private within({ pos, end }: { readonly pos: number; readonly end: number }, more = ''): Found | undefined {
    const name = blockedIn(`${this.source.slice(pos, end)}\n${more}`, this.policy);
    return name === undefined ? undefined : named(name, { start: pos, end });
  }

  /** What a program reads from its input. Of a file only that is code by itself which says so. */
  private fedText(node: HereDoc, isWritten: boolean): Found | undefined {
    const named = this.within(node, node.body.text);
    return named ?? (isWritten && !node.body.text.startsWith('#!') ? undefined : this.coded(node));
  }

  /** A text that reads as code: what stands in quotes, and was not read as a part of this line. */
  private coded(node: SyntaxNode): Found | undefined {
    const { pos: start, end } = node;
    const because = firstOf(textsIn(node), (text) => hiddenCode(text, this.policy));
    return because === undefined
      ? undefined
      : { because: `this text may be run as a command, and ${because}`, start, end };
  }
}

function madeInto({ pos: start, end }: SyntaxNode): Found {
  return { because: 'a text is made into another one here, and that may be run', start, end };
}

function firstOf<T, F>(among: readonly T[], look: (each: T) => F | undefined): F | undefined {
  for (const each of among) {
    const found = look(each);
    if (found !== undefined) return found;
  }
  return undefined;
}
