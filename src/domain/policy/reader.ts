import {
  forEachChild,
  parse,
  type Command,
  type ParsedScript,
  type Redirection,
  type Script,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { expand, expandWhole, HOLE, literal, NUMBER, type Field, type Variables } from '../command/expand.ts';
import { startsItself } from '../command/shape.ts';
import { programName } from '../command/wrappers.ts';
import type { Consequence } from './consequence.ts';
import { consequencesOf } from './consequences.ts';
import { evaluationDoubt, sensitiveVariable } from './evaluation.ts';
import { pathsOf, shownPath, type CommandPath, type PathIntent } from './paths.ts';
import type { Construct, Doubt, Reading, Run, Site } from './reading.ts';
import { isShell } from './shells.ts';
import { isTangled } from './tangle.ts';
import type { ScriptVariables } from './variables.ts';

/** Where the reader stands. */
interface Place {
  readonly source: string;
  readonly variables: Variables;
  /** Set inside a text that is itself an argument: its positions mean nothing outside. */
  readonly site: Site | undefined;
  readonly through: readonly string[];
  readonly depth: number;
  readonly maybe: boolean;
}

const MOST_DEPTH = 8;
const MOST_RUNS = 2000;
/** Fields looked at, all in all: a wrapper around a wrapper looks at the same ones again. */
const MOST_FIELDS = 100_000;
const MOST_WAYS = 16;
const MOST_REASONS = 200;
const STREAMS = /^\/dev\/(?:null|stdin|stdout|stderr|tty|zero|u?random|fd\/\d+)$/;

/** Walks a parsed script and writes down what it would run. */
export class Reader implements Reading {
  readonly runs: Run[] = [];
  readonly doubts: Doubt[] = [];
  readonly constructs: (Site & { readonly construct: Construct })[] = [];
  readonly paths: CommandPath[] = [];
  readonly forkBombs: Site[] = [];
  private readonly files: (Site & { readonly path: string; readonly run: Run })[] = [];

  private fieldsSeen = 0;
  private readonly text: string;
  private readonly variables: ScriptVariables;

  constructor(text: string, variables: ScriptVariables) {
    this.text = text;
    this.variables = variables;
  }

  readOutermost(script: ParsedScript): void {
    const place = {
      source: this.text,
      variables: this.variables,
      site: undefined,
      through: [],
      depth: 0,
      maybe: false,
    };
    this.readScript(script, place);
    this.doubtWrittenFiles();
  }

  private readScript(script: ParsedScript, place: Place): void {
    const [error] = script.errors ?? [];
    if (error !== undefined)
      this.doubt(`this does not read as a command: ${error.message}`, this.site(place, error.pos));
    for (const statement of script.commands) this.visit(statement, place);
  }

  /** A text that a shell will run: `bash -c`, `eval`, a here-document. */
  private readText(text: string, place: Place, run: Run): void {
    const site = { start: run.start, end: run.end };
    if (text.includes(HOLE)) this.doubt(`a part of what ${run.program} runs is only known when it runs`, site, run);
    if (place.depth >= MOST_DEPTH || text.length > this.text.length * 4 + 256 || isTangled(text)) {
      this.doubt(`what ${run.program} runs is nested too deeply to be read`, site, run);
      return;
    }
    const variables: Variables = {
      valuesOf: (name) => this.variables.valuesOf(name, -1),
      breaksAtBlanks: this.variables.breaksAtBlanks,
    };
    // A hole is no word of the shell's, but where it stands matters: it is read as a variable nobody has set.
    const source = text.replaceAll(HOLE, '${_}').replaceAll(NUMBER, '0');
    const script = parse(source);
    this.variables.collectOnce(`${place.depth} ${source}`, script, variables);
    const through = [...place.through, run.program];
    this.readScript(script, { ...place, source, variables, site, through, depth: place.depth + 1 });
  }

  private visit(node: SyntaxNode, place: Place): void {
    switch (node.type) {
      case 'Command':
        this.command(node, place);
        break;
      case 'CommandExpansion':
        this.construct(node.text.startsWith('`') ? '`' : '$(', node, place);
        this.substitution(node.script, node, place);
        return;
      case 'ProcessSubstitution':
        this.construct(node.operator === '<' ? '<(' : '>(', node, place);
        this.substitution(node.script, node, place);
        return;
      case 'ArithmeticCommandExpansion':
        this.construct('$(', node, place);
        this.substitution(node.script, node, place);
        return;
      case 'HereString':
        this.construct('<<<', node, place);
        break;
      case 'Redirect':
        this.redirect(node, place);
        break;
      case 'Function':
        if (startsItself(node.name.value, node.body)) this.forkBombs.push(this.site(place, node.pos, node.end));
        break;
    }
    const evaluated = evaluationDoubt(node, place.source, place.variables, this.variables);
    if (evaluated !== undefined) this.doubt(evaluated, this.siteOf(node, place));
    forEachChild(node, (child) => {
      this.visit(child, place);
    });
  }

  private substitution(script: ParsedScript | undefined, node: SyntaxNode, place: Place): void {
    if (script === undefined) {
      this.doubt('this substitution does not read as a command', this.siteOf(node, place));
      return;
    }
    if (script.source === undefined) {
      this.readScript(script, place);
      return;
    }
    const variables: Variables = {
      valuesOf: (name) => this.variables.valuesOf(name, -1),
      breaksAtBlanks: this.variables.breaksAtBlanks,
    };
    this.readScript(script, { ...place, source: script.source, variables, site: this.siteOf(node, place) });
  }

  private command(node: Command, place: Place): void {
    if (node.name === undefined) return;
    const site = this.siteOf(node, place);
    let ways: readonly (readonly Field[])[] = [[]];
    for (const word of [node.name, ...node.args]) {
      const next =
        word.type === 'Word' ? expand(word, place.variables) : assignmentFields(word.name, word.value, place);
      const only = next.length === 1 ? next[0] : undefined;
      if (only !== undefined && ways.length === 1) ways = [[...(ways[0] ?? []), ...only]];
      else if (ways.length * next.length <= MOST_WAYS) {
        ways = ways.flatMap((way) => next.map((fields) => [...way, ...fields]));
      } else {
        this.doubt('this may turn out in too many ways', site);
        return;
      }
    }
    for (const fields of ways) this.follow(fields, node.redirects, place, site);
  }

  /** Follows a command to what it runs. */
  private follow(fields: readonly Field[], input: readonly Redirection[], place: Place, site: Site): void {
    const [name, ...args] = fields;
    if (name === undefined) return;
    this.fieldsSeen += fields.length;
    if (this.runs.length >= MOST_RUNS || this.fieldsSeen > MOST_FIELDS) {
      this.doubt('it runs more than anybody could look at', site);
      return;
    }
    const program = programName(name.text).toLowerCase();
    const run: Run = {
      program,
      name,
      args,
      through: place.through,
      maybe: place.maybe,
      start: site.start,
      end: site.end,
    };
    this.runs.push(run);
    if (isUncertainName(name)) {
      this.doubt('which program this runs is only known when it runs', site);
      return;
    }
    for (const { path, intent } of pathsOf(program, args)) this.path(path, intent, site);
    if (name.text.includes('/')) this.files.push({ path: name.text, run, start: site.start, end: site.end });
    if (place.depth >= MOST_DEPTH) {
      this.doubt(`what ${program} runs is nested too deeply to be read`, site, run);
      return;
    }
    for (const each of consequencesOf(program, args)) this.consequence(each, run, input, place);
  }

  private consequence(each: Consequence, run: Run, input: readonly Redirection[], place: Place): void {
    switch (each.type) {
      case 'command': {
        const through = [...place.through, run.program];
        const maybe = place.maybe || each.maybe === true;
        this.follow(each.fields, input, { ...place, through, depth: place.depth + 1, maybe }, run);
        return;
      }
      case 'script':
        this.readText(each.text, place, run);
        return;
      case 'input':
        this.input(run, input, place);
        return;
      case 'file':
        this.path(each.path, 'read', run);
        this.files.push({ path: each.path, run, start: run.start, end: run.end });
        return;
      case 'variable': {
        const value = each.value ?? HOLE;
        if (sensitiveVariable(each.name)) this.doubt(`${each.name} decides what later commands do`, run, run);
        this.variables.assign(`${run.start} ${each.name} ${value}`, each.name, () => [value]);
        return;
      }
      case 'variables':
        this.variables.loseSight();
        return;
      case 'doubt':
        if (!run.maybe) this.doubt(each.because, run, run);
    }
  }

  /** A shell or an interpreter that is to run its input. */
  private input(run: Run, redirects: readonly Redirection[], place: Place): void {
    const last = redirects.findLast((each) => each.type !== 'Redirect' || each.operator === '<');
    const texts = last?.descriptor === undefined ? this.inputTexts(last, place) : undefined;
    for (const text of texts ?? []) this.readText(text, place, run);
    if (texts === undefined && !run.maybe) this.doubt(`what ${run.program} runs comes from its input`, run, run);
    else if (!isShell(run.program) && !run.maybe)
      this.doubt(`${run.program} runs code in a language of its own`, run, run);
  }

  /** Every text that a here-document or a here-string may turn out to be; undefined if it is neither. */
  private inputTexts(last: Redirection | undefined, place: Place): readonly string[] | undefined {
    if (last?.type === 'HereString') return last.target && expandWhole(last.target, place.variables);
    if (last?.type !== 'HereDoc') return undefined;
    const { body, delimiter, pos, end } = last;
    if (delimiter?.quoted === true) return [body.text];
    if (body.parts === undefined)
      return [body.text.replace(/\\([\\$`\n])/g, (_, next: string) => (next === '\n' ? '' : next))];
    return expandWhole(
      { type: 'Word', text: body.text, value: body.text, parts: body.parts, pos, end },
      place.variables,
    );
  }

  private redirect(node: Redirection & { type: 'Redirect' }, place: Place): void {
    if (node.target === undefined) return;
    const site = this.siteOf(node, place);
    for (const path of expandWhole(node.target, place.variables)) {
      if (/^\/dev\/(?:tcp|udp)\//.test(path)) this.doubt('this opens a connection to the network', site);
      if (/[<>]&$/.test(node.operator) && /^(?:\d+|-|\d+-)$/.test(path)) continue;
      this.path(path, node.operator === '<' || node.operator === '<&' ? 'read' : 'write', site);
    }
  }

  private path(path: string, intent: PathIntent, { start, end }: Site): void {
    if (STREAMS.test(path) || this.paths.length >= MOST_RUNS) return;
    this.paths.push({ path: shownPath(path), intent, known: !path.includes(HOLE), start, end });
  }

  /** A file that the same command line writes may hold anything by the time it is run. */
  private doubtWrittenFiles(): void {
    const written = this.paths.filter(({ intent }) => intent === 'write').map(({ path }) => programName(path));
    if (written.length === 0) return;
    const names = new Set(written);
    const isAny = written.some((name) => /[…*?[]/.test(name));
    for (const { path, run, start, end } of this.files) {
      if (isAny || names.has(programName(path))) {
        this.doubt('this runs a file that the same command line writes', { start, end }, run);
      }
    }
  }

  private construct(construct: Construct, node: SyntaxNode, place: Place): void {
    if (this.constructs.length < MOST_REASONS) this.constructs.push({ construct, ...this.siteOf(node, place) });
  }

  private doubt(because: string, { start, end }: Site, run?: Run): void {
    if (this.doubts.length >= MOST_REASONS) return;
    this.doubts.push(run === undefined ? { because, start, end } : { because, start, end, run });
  }

  private siteOf(node: SyntaxNode, place: Place): Site {
    return this.site(place, node.pos, node.end);
  }

  private site(place: Place, start: number, end = start + 1): Site {
    return place.site ?? { start, end: Math.min(end, this.text.length) };
  }
}

function isUncertainName({ text, open, many, glob }: Field): boolean {
  if (glob || /^~[^/]*$/.test(text)) return true;
  // A quoted part in front of a slash is a directory, whichever.
  return many || (open && /[\0\u0002]/.test(text.slice(text.lastIndexOf('/') + 1)));
}

function assignmentFields(
  name: string,
  value: Word | { readonly type: 'ArrayValue' },
  place: Place,
): readonly (readonly Field[])[] {
  if (value.type !== 'Word') return [[{ ...literal(`${name}=${HOLE}`), open: true }]];
  return expandWhole(value, place.variables).map((text) => [
    { ...literal(`${name}=${text}`), open: text.includes(HOLE) },
  ]);
}
