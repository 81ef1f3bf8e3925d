import { forEachChild, parse, type Command, type SyntaxNode } from 'unbash';
import { elements, isList } from '../outcome/field.ts';
import { nestingOf, startsItself } from './shape.ts';
import { fieldsOf, type Field } from './words.ts';
import { findCommands, isShell, programName, scriptText, wrappedAt } from './wrappers.ts';

/** One program that a command line runs, with what it is run through (`sudo`, `timeout`, `bash`, …), outermost first. */
export interface ShellCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly wrappers: readonly string[];
  /** False where the name is made by the running shell (`$TOOL x`), so nobody can tell from outside. */
  readonly literal: boolean;
}

interface ParsedCommand {
  readonly commands: readonly ShellCommand[];
  /** Files that redirections write to. */
  readonly writes: readonly string[];
  /** A function that starts itself twice: `:(){ :|:& };:`. */
  readonly forkBomb: boolean;
  /** False if nothing could be made of the input, or not of all of it. */
  readonly complete: boolean;
}

/** The parser's worst case is quadratic in length and depth; with these bounds it stays in milliseconds. */
const MOST_CHARACTERS = 8192;
const MOST_NESTING = 32;
const MOST_COMMANDS = 256;
const MOST_SCRIPTS_DEEP = 8;

interface Found {
  readonly commands: ShellCommand[];
  readonly writes: string[];
  forkBomb: boolean;
  complete: boolean;
}

/**
 * Every program a command line would run, in the order of its text, also those inside substitutions, functions, `bash -c`
 * and `find -exec`. Takes a line, or an array of program and arguments. A command quoted as another's argument is none.
 */
export function commandsOf(command: unknown): ParsedCommand {
  const found: Found = { commands: [], writes: [], forkBomb: false, complete: true };
  if (typeof command === 'string') addScript(command, [], found);
  else if (isList(command)) addVector(elements(command, MOST_COMMANDS), found);
  else found.complete = false;
  return found;
}

function addVector(vector: readonly unknown[], found: Found): void {
  const words = vector.filter((word) => typeof word === 'string' || typeof word === 'number').map(String);
  found.complete = words.length === vector.length && words.length > 0;
  // Some callers wrap a whole line into an array of one.
  if (words.length === 1 && /\s/.test(words[0] ?? '')) addScript(words[0] ?? '', [], found);
  else addFields(words.map(literalField), [], found);
}

function addScript(text: string, wrappers: readonly string[], found: Found): void {
  const bounded = text.slice(0, MOST_CHARACTERS);
  if (nestingOf(bounded) > MOST_NESTING || wrappers.length > MOST_SCRIPTS_DEEP) {
    found.complete = false;
    return;
  }
  if (bounded.length < text.length) found.complete = false;
  try {
    const script = parse(bounded);
    if (script.errors !== undefined && script.errors.length > 0) found.complete = false;
    visit(script, wrappers, found);
  } catch {
    // The parser promises not to throw; should it, the outcome must be kept all the same.
    found.complete = false;
  }
}

function visit(node: SyntaxNode, wrappers: readonly string[], found: Found): void {
  if (found.commands.length >= MOST_COMMANDS) {
    found.complete = false;
    return;
  }
  if (node.type === 'Command') addCommand(node, wrappers, found);
  if (node.type === 'Redirect' && node.operator.includes('>') && node.target) {
    found.writes.push(...fieldsOf(node.target).map(({ text }) => text));
  }
  if (node.type === 'Function' && startsItself(node.name.value, node.body)) found.forkBomb = true;
  forEachChild(node, (child) => visit(child, wrappers, found));
}

function addCommand(node: Command, wrappers: readonly string[], found: Found): void {
  if (!node.name) return;
  const words = node.args.flatMap((arg) => (arg.type === 'Word' ? fieldsOf(arg) : [literalField(arg.text)]));
  const run = addFields([...fieldsOf(node.name), ...words], wrappers, found);
  // A shell without a script reads one from its input.
  if (run === undefined || !isShell(run.program) || !run.args.every((arg) => arg.startsWith('-'))) return;
  for (const redirect of node.redirects) {
    if (redirect.type === 'HereDoc') addScript(redirect.body.text, through(run), found);
    if (redirect.type === 'HereString' && redirect.target) {
      addScript(fieldsOf(redirect.target)[0]?.text ?? '', through(run), found);
    }
  }
}

/** Follows a simple command through its wrappers; answers the program at the end of them, unless it is a script. */
function addFields(fields: readonly Field[], wrappers: readonly string[], found: Found): ShellCommand | undefined {
  const [first, ...rest] = fields;
  if (first === undefined) return undefined;
  const run: ShellCommand = {
    program: programName(first.text),
    args: rest.map(({ text }) => text),
    wrappers,
    literal: first.literal,
  };
  const script = scriptText(run.program, run.args);
  if (script !== undefined) {
    addScript(script, through(run), found);
    return undefined;
  }
  const inner = wrappedAt(run.program, run.args);
  if (inner !== undefined) return addFields(rest.slice(inner), through(run), found);
  found.commands.push(run);
  if (run.program === 'find') {
    for (const each of findCommands(run.args)) addFields(each.map(literalField), through(run), found);
  }
  return run;
}

function through(run: ShellCommand): readonly string[] {
  return [...run.wrappers, run.program];
}

function literalField(text: string): Field {
  return { text, literal: true };
}
