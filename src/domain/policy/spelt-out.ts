import {
  forEachChild,
  parse,
  type Command,
  type Pipeline,
  type Redirection,
  type Script,
  type SyntaxNode,
} from 'unbash';
import { isSaidByOption } from './names.ts';
import { isOnlySaid, programsAlong } from './only-said.ts';
import { printedBy } from './printed.ts';
import type { Site } from './reading.ts';

/** A blocked name, and where a line spells it out. */
export interface SpeltOut extends Site {
  readonly name: string;
}

const LETTERS = /\\x\{?([0-9a-f]{1,2})\}?|\\u\{?([0-9a-f]{1,4})\}?|\\0?([0-7]{2,3})/gi;
const EMPTY = /\$(?:[@*]|\{[^{}]*\}|[A-Za-z_]\w*)|\$\([^()]*\)|`[^`]*`/g;
/** What is compared runs nothing, unless it is taken for a number or holds what runs. */
const EVALUATED = /\$\(|`|\[\w|(?:^|\s)-(?:eq|ne|lt|le|gt|ge|v)\s/;
const MOST_DEPTH = 4;
/** They run nothing, whatever lies where they are. */
const QUIET = new Set(
  (
    'echo printf cat tac head tail wc ls ll grep egrep fgrep cd pwd mkdir rmdir touch rm chmod cut tr uniq comm cmp stat file ' +
    'du df date true false : test [ exit sleep basename dirname realpath readlink'
  ).split(' '),
);

/**
 * The second look at a line. The first one follows it to what it runs; this one follows nothing. It asks where a blocked
 * name is spelt out, and whether words that stand there are said and not run: arguments of `echo`, what `grep` looks for, a
 * comment. Any other place counts: a way to run text that nobody has thought of still has to spell out whom it runs.
 */
export function speltOut(text: string, blocked: RegExp, depth = 0): SpeltOut | undefined {
  const bare = laidBare(text);
  const isNamed = blocked.test(bare);
  const prints = PRINTS.test(text);
  if (!isNamed && !prints) return undefined;
  const script = parse(text);
  const found = isNamed ? new SecondLook(text, blocked, depth, isQuiet(script)).look(script, false) : undefined;
  return found ?? (prints ? printedOut(script, bare.toLowerCase(), blocked) : undefined);
}

const PRINTS = /printf|echo[^]*echo/;

/** A name that stands nowhere and comes to be when it is printed: nobody does so who only speaks of it. */
function printedOut(script: Script, bare: string, blocked: RegExp): SpeltOut | undefined {
  const printed = printedBy(commandsIn(script)).toLowerCase();
  const names = new Set(printed.match(new RegExp(blocked, 'gi')));
  const [name] = [...names].filter((each) => !bare.includes(each));
  return name === undefined ? undefined : { name, start: script.pos, end: script.end };
}

/** The text without what hides a word in it: quotes, backslashes, codes of letters, and once more without expansions. */
function laidBare(text: string): string {
  if (!/[\\'"$]/.test(text)) return text;
  const decoded = text.replace(LETTERS, (_, hex?: string, unicode?: string, octal?: string) =>
    String.fromCharCode(octal === undefined ? parseInt(hex ?? unicode ?? '', 16) : parseInt(octal, 8) & 0xff),
  );
  const plain = decoded.replace(/\\\n|[\\'"]/g, '');
  // What a backslash stands before may be a blank to whoever reads the text: `sudo\n`.
  const broken = decoded.replace(/\\./gs, ' ').replace(/['"]/g, '');
  return `${plain}\n${emptied(plain)}\n${broken}`;
}

/** Without expansions, step by step from the innermost outwards: what is left around one may itself stand within another. */
function emptied(text: string): string {
  const steps: string[] = [];
  let rest = text;
  for (let depth = 0; depth < MOST_DEPTH; depth += 1) {
    const next = rest.replace(EMPTY, '');
    if (next === rest) break;
    steps.push(next);
    rest = next;
  }
  return steps.join('\n');
}

class SecondLook {
  private readonly source: string;
  private readonly blocked: RegExp;
  private readonly depth: number;
  /** Nothing on the line could run what is written to a file. */
  private readonly isQuiet: boolean;

  constructor(source: string, blocked: RegExp, depth: number, isAllQuiet: boolean) {
    this.source = source;
    this.blocked = blocked;
    this.depth = depth;
    this.isQuiet = isAllQuiet;
  }

  /** `isHandedOn`: what this says goes to somebody who may do more with it than to say it. */
  look(node: SyntaxNode, isHandedOn: boolean): SpeltOut | undefined {
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
      case 'ArithmeticCommand':
        return this.within(node);
      case 'HereDoc':
        return this.within(node, node.body.text);
      default:
        return firstOf(childrenOf(node), (child) => this.look(child, isHandedOn));
    }
  }

  private pipeline({ commands }: Pipeline, isHandedOn: boolean): SpeltOut | undefined {
    let handedOn = isHandedOn;
    return firstOf(commands.toReversed(), (command) => {
      const found = this.look(command, handedOn);
      handedOn ||= command.type !== 'Command' || !this.says(command);
      return found;
    });
  }

  private command(node: Command, isHandedOn: boolean): SpeltOut | undefined {
    const isSaid = !isHandedOn && this.says(node) && !this.writes(node.redirects);
    let before = '';
    return firstOf([...node.prefix, ...node.suffix], (part) => {
      const text = part.type === 'Word' ? part.value : '';
      const isWord = part.type !== 'Assignment' && (isSaid || isSaidByOption(text, before));
      before = text;
      return isWord ? this.madeOf(part) : this.look(part, isHandedOn);
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
    if (script === undefined) return isOnlySaid(words) && !programsAlong(words).some((each) => this.blocked.test(each));
    const isWhole = args.every((arg) => arg.type === 'Word' && madeOf(arg).length === 0);
    return isWhole && this.depth < MOST_DEPTH && speltOut(script, this.blocked, this.depth + 1) === undefined;
  }

  /** A word that is said may still be put together from what others say. */
  private madeOf(node: SyntaxNode): SpeltOut | undefined {
    return firstOf(madeOf(node), (part) => {
      const isScript = part.type === 'CommandExpansion' || part.type === 'ProcessSubstitution';
      // One that was decoded first has no place in this text.
      const script = isScript && part.script?.source === undefined ? part.script : undefined;
      return script === undefined ? this.within(part) : this.look(script, false);
    });
  }

  private within({ pos, end }: { readonly pos: number; readonly end: number }, more = ''): SpeltOut | undefined {
    const [name] = this.blocked.exec(laidBare(`${this.source.slice(pos, end)}\n${more}`)) ?? [];
    return name === undefined ? undefined : { name: name.toLowerCase(), start: pos, end };
  }
}

/** Whether nothing on a line runs anything: it says, makes directories, looks. */
function isQuiet(script: SyntaxNode): boolean {
  return commandsIn(script).every(({ name }) => name === undefined || QUIET.has(name.value));
}

function commandsIn(node: SyntaxNode): readonly Command[] {
  const within = childrenOf(node).flatMap(commandsIn);
  return node.type === 'Command' ? [node, ...within] : within;
}

/** The outermost expansions in a node. */
function madeOf(node: SyntaxNode): readonly SyntaxNode[] {
  switch (node.type) {
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ParameterExpansion':
    case 'ArithmeticExpansion':
      return [node];
    default:
      return childrenOf(node).flatMap(madeOf);
  }
}

function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = [];
  forEachChild(node, (child) => {
    children.push(child);
  });
  return children;
}

function firstOf<T>(among: readonly T[], look: (each: T) => SpeltOut | undefined): SpeltOut | undefined {
  for (const each of among) {
    const found = look(each);
    if (found !== undefined) return found;
  }
  return undefined;
}
