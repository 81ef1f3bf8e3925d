import { forEachChild, type Assignment, type For, type Script, type Select, type SyntaxNode } from 'unbash';
import { COUNTER, saidBy } from './evaluation.ts';
import { isAskedOnInput } from './script-on-input.ts';
import {
  expandWhole,
  expand,
  HOLE,
  MADE,
  MATCH,
  NUMBER,
  type Field,
  type Said,
  type Variables,
} from '../../command/expand.ts';

interface Assigned {
  readonly values: () => readonly string[];
  /** Where it certainly holds: after this place, up to the end if one is given. Undefined where it may never happen. */
  readonly from: number | undefined;
  readonly until?: number;
}

const MOST_VALUES = 8;
const MOST_ASSIGNMENTS = 500;
const PASSES_TO_SETTLE = 2;
/** Characters that values put into a command line in one reading: a long one that is used often is as long as its square. */
const MOST_SPELT_OUT = 262_144;

/**
 * What the variables of a script may hold. Every assignment counts wherever it stands, for functions and loops jump about;
 * only one that stands before the use, under no condition, rules out what the variable held before.
 */
export class ScriptVariables implements Variables {
  private readonly assigned = new Map<string, Assigned[]>();
  private readonly underWay = new Set<string>();
  private readonly evaluated = new Map<string, readonly string[]>();
  private readonly told = new Set<string>();
  private readonly arrays = new Set<string>();
  private readonly numbers = new Set<string>();
  private count = 0;
  private blind = false;
  private speltOut = 0;
  breaksAtBlanks = true;
  /** Whether what counts elsewhere is a function here, or something else speaks in its place. */
  hasOwnCounters = false;
  /** Whether what reads nothing elsewhere is a function here, which a shell may be told of. */
  hasOwnReaders = false;

  /** They make more of the script than anybody could look at. */
  isFlooding = false;

  /** True if anything was learnt that those who asked before did not know. */
  changed = false;

  /** How often the script was read before. */
  pass = 0;

  valuesOf(name: string, at: number): { readonly values: readonly string[]; readonly certain: boolean } {
    const assigned = this.assigned.get(name);
    if (this.blind) return assigned === undefined ? NOTHING : { values: [HOLE], certain: false };
    if (assigned === undefined) return SET_BY_SHELL.test(name) ? MADE_UP : NOTHING;
    if (this.underWay.has(name) || this.underWay.size > MOST_VALUES) return { values: [HOLE], certain: false };
    const certain = assigned.some(
      ({ from, until }) => from !== undefined && at >= from && (until === undefined || at < until),
    );
    const values = this.evaluated.get(name) ?? this.evaluate(name, assigned);
    for (const value of values) this.speltOut += value.length;
    if (this.speltOut > MOST_SPELT_OUT) this.isFlooding = true;
    if (this.isFlooding || values.length > MOST_VALUES) return { values: [HOLE], certain: false };
    // The shell sets it, too, whenever it likes.
    if (SET_TO_WORDS.test(name)) return { values: [...values, MADE], certain: false };
    return this.numbers.has(name) || COUNTED_BY_SHELL.test(name)
      ? { values: [...values, NUMBER], certain: false }
      : { values, certain };
  }

  /** What is known wherever one stands: positions count in the outermost script only. */
  get anywhere(): Variables {
    return {
      valuesOf: (name) => this.valuesOf(name, -1),
      breaksAtBlanks: this.breaksAtBlanks,
      saidBy: (substitution) => this.saidBy(substitution),
    };
  }

  saidBy(substitution: string): Said | undefined {
    return this.hasOwnCounters ? undefined : saidBy(substitution);
  }

  /** The script is read from its beginning. */
  beginPass(): void {
    this.changed = false;
    this.speltOut = 0;
  }

  private evaluate(name: string, assigned: readonly Assigned[]): readonly string[] {
    this.underWay.add(name);
    const values = new Set<string>();
    for (const each of assigned) {
      for (const value of each.values()) values.add(value);
      if (values.size > MOST_VALUES) break;
    }
    this.underWay.delete(name);
    this.evaluated.set(name, [...values]);
    return [...values];
  }

  /** Whether arithmetic on this variable can only be arithmetic; what it holds is evaluated, substitutions and all. */
  isNumber(name: string): boolean {
    if (this.blind || SET_TO_WORDS.test(name)) return false;
    // What comes from outside, as names in capitals do, may be the name of one that is set here: TERM=dumb.
    if (!this.assigned.has(name))
      return /[a-z]/.test(name) || [...this.assigned.keys()].every((each) => this.holdsNoCode(each));
    return this.valuesOf(name, -1).values.every((value) => NUMERIC.test(value));
  }

  /** Whether what a variable holds has nothing in it that arithmetic would run. */
  private holdsNoCode(name: string): boolean {
    return this.valuesOf(name, -1).values.every((value) => !/[[$`(]/.test(value) && !value.includes(HOLE));
  }

  /** Whether one of the shell's own integers is given what may be no number: it is evaluated as arithmetic is, wherever it comes from. */
  get evaluatesWords(): boolean {
    return INTEGERS.some((name) => this.assigned.has(name) && !this.isNumber(name));
  }

  /** What is assigned to an array as a text is evaluated once more, if it has the form of one: `declare "x=$y"`. */
  isArray(name: string): boolean {
    return this.arrays.has(name) || SET_TO_WORDS.test(name);
  }

  /** It may be a number by then, whichever, whatever was assigned to it. */
  setToNumber(name: string): void {
    if (this.numbers.has(name)) return;
    this.numbers.add(name);
    this.changed = true;
  }

  learnArray(name: string): void {
    if (this.arrays.has(name)) return;
    this.arrays.add(name);
    this.changed = true;
  }

  /**
   * Learns once what a place says; the same place may be read several times. One that says something new each time, as
   * `export X=$X:y` does, may say anything.
   */
  assign(start: number, name: string, said: string): void {
    const value = this.pass < PASSES_TO_SETTLE ? said : MADE;
    const [known, place] = [`${start} ${name} ${said}`, `${start} ${name} ${value}`];
    if (this.told.has(known) || this.told.has(place)) return;
    this.told.add(place);
    this.add(name, { values: () => [value], from: undefined });
    this.changed = true;
  }

  /** What a substitution says may be somebody else's words. */
  loseCounters(): void {
    if (this.hasOwnCounters) return;
    this.hasOwnCounters = true;
    this.changed = true;
  }

  /** From here on anything may be set: a file was sourced, a name could not be read. */
  loseSight(): void {
    if (this.blind) return;
    this.blind = true;
    this.changed = true;
  }

  /** A text that the script runs; the same text may be met in several passes. */
  collectOnce(place: string, script: Script, view: Variables): void {
    if (this.told.has(place)) return;
    this.told.add(place);
    const before = this.count;
    this.collect(script, view);
    if (this.count > before) this.changed = true;
  }

  /** `view` tells what is known where the script stands: positions count in the outermost script only. */
  collect(script: Script, view: Variables): void {
    for (const statement of script.commands) {
      const first = statement.command.type === 'AndOr' ? statement.command.commands[0] : statement.command;
      const isCertain = view === this && statement.background !== true && first?.type === 'Command' && !first.name;
      if (isCertain) {
        for (const node of first.prefix) if (node.type === 'Assignment') this.addAssignment(node, view, true);
      }
      this.visit(statement, view);
    }
  }

  private visit(node: SyntaxNode, view: Variables): void {
    if (node.type === 'Assignment') this.addAssignment(node, view, false);
    if (node.type === 'For' || node.type === 'Select') this.addLoop(node, view);
    // It may not be the shell's own any more, and see what IFS holds.
    if (node.type === 'Function' && node.name.value === 'read') this.breaksAtBlanks = false;
    if (node.type === 'Function' && SPEAKS.test(node.name.value)) this.loseCounters();
    if (node.type === 'Function' && isAskedOnInput(node.name.value)) this.hasOwnReaders = true;
    if (node.type === 'ParameterExpansion' && node.operation?.type === 'Default') {
      const { operand, operator } = node.operation;
      if (operator.includes('='))
        this.add(node.parameter, { values: () => expandWhole(operand, view), from: undefined });
    }
    forEachChild(node, (child) => {
      if (!isForReadAlone(node, child)) this.visit(child, view);
    });
  }

  private addAssignment(node: Assignment, view: Variables, isCertain: boolean): void {
    const { name, value } = node;
    if (value.type !== 'Word' || node.index !== undefined) this.arrays.add(name);
    const isWhole = node.append !== true && node.index === undefined && value.type === 'Word';
    const values = (): readonly string[] => {
      if (!isWhole) return [MADE];
      const said = this.saidBy(value.text);
      if (said === 'number') return [NUMBER];
      return said === 'number or nothing' ? [NUMBER, ''] : expandWhole(value, view);
    };
    this.add(name, { values, from: isCertain && isWhole ? node.end : undefined });
  }

  private addLoop(node: For | Select, view: Variables): void {
    const values = (): readonly string[] =>
      node.wordlist?.flatMap((word) => expand(word, view).flat().map(loopValue)) ?? [MADE];
    const { pos, end } = node.body;
    this.add(node.name.value, view === this ? { values, from: pos, until: end } : { values, from: undefined });
  }

  private add(name: string, assigned: Assigned): void {
    if (name === 'IFS') this.breaksAtBlanks = false;
    this.count += 1;
    if (this.count > MOST_ASSIGNMENTS) this.blind = true;
    this.evaluated.clear();
    const known = this.assigned.get(name);
    if (known === undefined) this.assigned.set(name, [assigned]);
    else known.push(assigned);
  }
}

/** The IFS of `IFS=, read -r a b`: nobody else sees it. What it holds must be plain, for it is not looked at any more. */
export function isForReadAlone(parent: SyntaxNode, node: SyntaxNode): boolean {
  if (parent.type !== 'Command' || node.type !== 'Assignment' || node.name !== 'IFS') return false;
  if (node.value.type !== 'Word' || node.append === true || node.index !== undefined) return false;
  return parent.name?.text === 'read' && PLAIN.test(node.value.text);
}

/** A name that was found, and breaks at its blanks, is no name any more. */
function loopValue({ text, glob, expanded }: Field): string {
  if (expanded === 'split' && text.includes(MATCH)) return MADE;
  return glob ? text.replace(GLOB, MATCH) : text;
}

const PLAIN = /^(?:[^\s$`\\'"()<>{}]*|'[^']*'|"[^"$`\\]*"|\$'(?:[^'\\]|\\[tnr])*')$/;

const GLOB = /[*?]+|\[[!^]?\]?(?:\[[:.=][^\]/]*\]|[^\]/])*\]?/g;
/** What the shell itself sets, to words of others: arguments, input, what was matched, where one is. */
const SET_TO_WORDS =
  /^(?:[\d@*-]+|_|BASH|REPLY|OPTARG|MAPFILE|BASH_(?!SUBSHELL$|VERSINFO$)\w+|FUNCNAME|DIRSTACK|COMP_\w+|COMPREPLY|READLINE_\w+|(?:OLD)?PWD)$/;
const INTEGERS =
  'RANDOM SRANDOM OPTIND HISTCMD SECONDS LINENO BASHPID EPOCHSECONDS EPOCHREALTIME BASH_SUBSHELL BASH_MONOSECONDS'.split(
    ' ',
  );
/** What is assigned to these it may pass over. */
const COUNTED_BY_SHELL = new RegExp(`^(?:${INTEGERS.join('|')}|GROUPS|PIPESTATUS|E?UID|PPID|SHLVL|COLUMNS|LINES)$`);
const NOTHING = { values: [], certain: false } as const;
/** The same that are set without a word of the line's about it. */
const SET_BY_SHELL =
  /^(?:_|REPLY|OPTARG|MAPFILE|BASH_(?!SUBSHELL$|VERSINFO$|VERSION$)\w+|FUNCNAME|DIRSTACK|COMP_\w+|COMPREPLY|READLINE_\w+)$/;
const MADE_UP = { values: [MADE], certain: false } as const;
/** Functions that speak where a program is expected to count, or to be missing. */
const SPEAKS = new RegExp(`${COUNTER.source}|^command_not_found_handle$`);
const NUMERIC = new RegExp(`^[-\\d${NUMBER}]*$`);
