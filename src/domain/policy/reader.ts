import {
  parse,
  type Assignment,
  type Command,
  type For,
  type HereDoc,
  type ParameterExpansionPart,
  type ParsedScript,
  type Redirection,
  type Select,
  type SyntaxNode,
} from 'unbash';
import { expandWhole, HOLE, NUMBER, type Field, type Variables } from '../command/expand.ts';
import { programName } from '../command/wrappers.ts';
import { Calls, type Start } from './calls.ts';
import type { Consequence } from './consequence.ts';
import { consequencesOf, isStranger } from './consequences.ts';
import { backtickReadings, hereDocumentTexts, splitText } from './differences.ts';
import { arithmeticDoubt, evaluationDoubt } from './evaluation.ts';
import { speaksOwnLanguage } from './interpreters.ts';
import { isEveryday } from './options.ts';
import { inputTexts, isOfInput, isUncertainName, waysOf } from './fields.ts';
import { isElsewhere } from './elsewhere.ts';
import { Notes } from './notes.ts';
import type { Run, Site } from './reading.ts';
import { isRunner } from './runners.ts';
import { isShell } from './shells.ts';
import { isOverlooked } from './overlooked.ts';
import { breaksOut, spellsOutVariables, steeringOf } from './steering.ts';
import { isTangled } from './tangle.ts';
import { isForReadAlone, type ScriptVariables } from './variables.ts';
import { walk } from './walk.ts';

/** Where the reader stands. */
interface Place {
  readonly source: string;
  readonly variables: Variables;
  /** Set inside a text that is itself an argument: its positions mean nothing outside. */
  readonly site: Site | undefined;
  readonly through: readonly string[];
  readonly depth: number;
  readonly maybe: boolean;
  readonly by: Run | undefined;
  /** On another machine or in a container: its files are not ours. */
  readonly elsewhere: boolean;
  /** A program that nobody here knows, and that may run this. */
  readonly stranger: Run | undefined;
  /** The function that this is a part of, and how it is started there. */
  readonly within: string | undefined;
  readonly start: Start | undefined;
}

const MOST_DEPTH = 8;

/** Walks a parsed script and notes what it would run. */
export class Reader {
  readonly notes = new Notes();
  private readonly named = this.notes.named;
  private readonly calls = new Calls();
  private readonly text: string;
  private readonly variables: ScriptVariables;

  constructor(text: string, variables: ScriptVariables) {
    this.text = text;
    this.variables = variables;
  }

  readOutermost(script: ParsedScript): void {
    const { text: source, variables } = this;
    const nowhere = { site: undefined, through: [], depth: 0, maybe: false, by: undefined, elsewhere: false };
    const unstarted = { stranger: undefined, within: undefined, start: undefined };
    const place: Place = { source, variables, ...nowhere, ...unstarted };
    this.readScript(script, place);
    this.notes.forkBombs.push(...this.calls.bombs());
    if (this.calls.isFull) this.notes.doubt('its functions call more than anybody could follow', this.site(place, 0));
    this.notes.finish();
  }

  private readScript(script: ParsedScript, place: Place): void {
    const [error] = script.errors ?? [];
    if (error !== undefined)
      this.notes.doubt(`this does not read as a command: ${error.message}`, this.site(place, error.pos));
    this.visitAll(script, place);
  }

  private visitAll(node: SyntaxNode, place: Place): void {
    walk(node, this.named, (child) => {
      if (!isForReadAlone(node, child))
        this.visit(child, place.within === undefined ? place : started(node, child, place));
    });
  }

  /** A text that a shell will run: `bash -c`, `eval`, a here-document. */
  private readText(text: string, place: Place, by: Run | (Site & { readonly program: string })): void {
    const site = { start: by.start, end: by.end };
    const run = 'name' in by ? by : undefined;
    if (text.includes(HOLE))
      this.notes.doubt(`a part of what ${by.program} runs is only known when it runs`, site, run);
    if (place.depth >= MOST_DEPTH || text.length > this.text.length * 4 + 256 || isTangled(text)) {
      this.notes.doubt(`what ${by.program} runs is nested too deeply to be read`, site, run);
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
    const through = [...place.through, by.program];
    this.readScript(script, { ...place, source, variables, site, through, by: undefined, depth: place.depth + 1 });
  }

  private visit(node: SyntaxNode, place: Place): void {
    if (isOverlooked(node)) this.notes.doubt('this does not read as bash would read it', this.siteOf(node, place));
    // Most words are plain.
    if (node.type === 'Word' && node.parts === undefined) return;
    if (node.type === 'Command') {
      const { here } = this.named.where;
      this.command(node, place);
      // Its redirections and substitutions come before it.
      this.named.where.apart(() => this.visitParts(node, place), here);
      return;
    }
    this.visitParts(node, place);
  }

  private visitParts(node: SyntaxNode, place: Place): void {
    if (node.type === 'Assignment' || node.type === 'For' || node.type === 'Select') this.assignment(node, place);
    if (node.type === 'HereString') this.notes.construct('<<<', this.siteOf(node, place));
    if (node.type === 'Redirect') this.redirect(node, place);
    if (node.type === 'HereDoc') this.hereDocument(node, place);
    if (node.type === 'Function') {
      this.calls.defined(node.name.value, this.siteOf(node, place));
      this.visitAll(node, { ...place, within: node.name.value, start: undefined });
      return;
    }
    if (node.type === 'CommandExpansion' || node.type === 'ArithmeticCommandExpansion') {
      this.notes.construct(node.text.startsWith('`') ? '`' : '$(', this.siteOf(node, place));
      this.named.loseOrder();
      this.named.where.apart(() => this.substitution(node.script, node, place));
      for (const text of backtickReadings(node.text)) {
        const by = { program: 'a substitution', ...this.siteOf(node, place) };
        this.named.where.apart(() => this.readText(text, place, by));
      }
      return;
    }
    if (node.type === 'ProcessSubstitution') {
      this.notes.construct(node.operator === '<' ? '<(' : '>(', this.siteOf(node, place));
      this.named.loseOrder();
      this.named.where.apart(() => this.substitution(node.script, node, { ...place, start: beside(place) }));
      return;
    }
    if (node.type === 'ParameterExpansion') this.defaultValue(node, place);
    const within = node.type === 'ParameterExpansion' ? splitText(node) : undefined;
    if (within !== undefined) {
      const by = { program: 'an expansion', ...this.siteOf(node, place) };
      this.named.where.apart(() => this.readText(within, place, by));
    }
    const evaluated = evaluationDoubt(node, place.source, place.variables, this.variables);
    if (evaluated !== undefined) this.notes.doubt(evaluated, this.siteOf(node, place));
    this.visitAll(node, place);
  }

  private hereDocument(node: HereDoc, place: Place): void {
    const by = { program: 'a here-document', ...this.siteOf(node, place) };
    for (const text of hereDocumentTexts(node)) this.named.where.apart(() => this.readText(text, place, by));
  }

  private substitution(script: ParsedScript | undefined, node: SyntaxNode, place: Place): void {
    if (script === undefined) {
      this.notes.doubt('this substitution does not read as a command', this.siteOf(node, place));
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
    const ways = waysOf([node.name, ...node.args], place.variables);
    if (ways === undefined) this.notes.doubt('this may turn out in too many ways', site);
    for (const fields of ways ?? []) this.follow(fields, node.redirects, place, site);
  }

  /** Follows a command to what it runs. */
  private follow(fields: readonly Field[], input: readonly Redirection[], place: Place, site: Site): void {
    const [name, ...args] = fields;
    if (name === undefined) return;
    const program = programName(name.text).toLowerCase();
    const run: Run = {
      program,
      name,
      args,
      through: place.through,
      maybe: place.maybe,
      by: place.by,
      start: site.start,
      end: site.end,
    };
    this.notes.runs.push(run);
    if (place.within !== undefined) this.calls.called(place.within, name.text, place.start);
    // A run that nobody follows any further is on the list all the same: it may be blocked.
    if (!this.notes.hasRoomFor(fields.length)) {
      this.notes.doubt('it runs more than anybody could look at', site);
      return;
    }
    if (isUncertainName(name)) {
      this.notes.doubt('which program this runs is only known when it runs', site);
      return;
    }
    const consequences = consequencesOf(program, args);
    const from = this.named.count;
    if (!place.elsewhere) this.name(run, input, consequences);
    const own = [from, this.named.count] as const;
    if (!place.elsewhere) this.notes.follows(run, own);
    if (spellsOutVariables(program)) this.variablesAmong(run, place);
    if (name.text.includes('/')) this.notes.runsFile(name.text, run, own);
    if (place.depth >= MOST_DEPTH) {
      this.notes.doubt(`what ${program} runs is nested too deeply to be read`, site, run);
      return;
    }
    for (const each of consequences) {
      if (each.type === 'file') this.notes.runsFile(each.path, run, own);
      this.consequence(each, run, input, place);
    }
  }

  /** `make CFLAGS='; x'`: what a variable holds becomes a part of command lines. */
  private variablesAmong(run: Run, place: Place): void {
    for (const { text } of run.args) {
      const [, name, value] = /^([^-=:+?!][^=:+?!]*)[:+?!]*=(.*)$/s.exec(text) ?? [];
      if (name === undefined || value === undefined) continue;
      this.steering(name, [value], run, place, run);
      if (breaksOut(value)) this.notes.doubt(`${run.program} runs what a variable holds`, run, run);
    }
  }

  /** The files among its arguments; what it runs has its own. */
  private name(run: Run, input: readonly Redirection[], consequences: readonly Consequence[]): void {
    const { program, args } = run;
    const command = consequences.find((each) => each.type === 'command' && each.maybe !== true);
    const at =
      command?.type === 'command' && program !== 'find' ? args.findIndex((arg) => arg === command.fields[0]) : -1;
    this.named.addAll(program, at === -1 ? args : args.slice(0, at), run, input.some(isFile));
    if (program !== 'cd' && program !== 'pushd' && program !== 'popd') return;
    this.named.change(program, args, input.length === 0 && !this.text.includes('CDPATH'), run);
    if (this.text.includes('CDPATH')) this.named.where.wander();
  }

  /** Whatever another process does, it leaves us where we are; what is called later may take us anywhere. */
  private inItsShell(program: string, step: () => void): void {
    if (program === 'trap') this.named.called(step);
    else if (/^(?:eval|command|builtin)$/.test(program)) step();
    else this.named.where.apart(step);
  }

  private consequence(each: Consequence, run: Run, input: readonly Redirection[], place: Place): void {
    const elsewhere = place.elsewhere || runsElsewhere(run);
    switch (each.type) {
      case 'command': {
        const through = [...place.through, run.program];
        const maybe = place.maybe || each.maybe === true;
        const by = isRunner(run.program) ? run : undefined;
        const isUnheard = each.maybe === true && !elsewhere && isStranger(run.program);
        const stranger = isUnheard ? run : place.stranger;
        const within = { ...place, through, depth: place.depth + 1, maybe, by, elsewhere, stranger };
        this.inItsShell(run.program, () => this.follow(each.fields, input, within, run));
        return;
      }
      case 'script':
        this.inItsShell(run.program, () => this.readText(each.text, { ...place, elsewhere }, run));
        return;
      case 'input':
        this.inItsShell(run.program, () => this.input(run, input, { ...place, elsewhere }));
        return;
      case 'file':
        if (!elsewhere) this.named.addRead(each.path, run);
        return;
      case 'variable': {
        const value = each.value ?? HOLE;
        this.steering(each.name, [value], run, place, run);
        this.notes.sets(() => [value]);
        this.variables.assign(run.start, each.name, value);
        if (value.startsWith(HOLE) && each.value !== undefined && this.variables.isArray(each.name))
          this.notes.doubt('the elements of an array are evaluated', run, run);
        return;
      }
      case 'variables':
        this.variables.loseSight();
        return;
      case 'arithmetic': {
        const because = arithmeticDoubt(each.text, this.variables);
        if (because !== undefined) this.notes.doubt(because, run, run);
        return;
      }
      case 'doubt':
        this.doubt(each.because, run, place);
    }
  }

  /** A guess is doubted as well, if a program that nobody knows may run it: the doubt is about that one. */
  private doubt(because: string, run: Run, place: Place): void {
    if (!run.maybe) this.notes.doubt(because, run, run);
    else if (place.stranger !== undefined && !place.elsewhere) this.notes.doubt(because, run, place.stranger);
  }

  private assignment(node: Assignment | For | Select, place: Place): void {
    const name = node.type === 'Assignment' ? node.name : node.name.value;
    if (node.type !== 'Assignment')
      this.notes.sets(() => node.wordlist?.flatMap((word) => expandWhole(word, place.variables)) ?? []);
    const word = node.type === 'Assignment' && node.value.type === 'Word' ? node.value : undefined;
    if (word !== undefined) this.notes.sets(() => expandWhole(word, place.variables));
    if (steeringOf(name) === undefined) return;
    const isKnown = word !== undefined && node.type === 'Assignment' && node.append !== true;
    const values = isKnown ? expandWhole(word, place.variables) : [HOLE];
    this.steering(name, values, this.siteOf(node, place), place);
  }

  /** `${X:=y}` sets X as `X=y` does. */
  private defaultValue(node: ParameterExpansionPart, place: Place): void {
    const { operation, parameter } = node;
    if (operation?.type !== 'Default' || !operation.operator.includes('=')) return;
    const values = () => expandWhole(operation.operand, place.variables);
    this.notes.sets(values);
    if (steeringOf(parameter) !== undefined) this.steering(parameter, values(), this.siteOf(node, place), place);
  }

  /** A variable that decides what later commands do: what it names is followed where it is a command. */
  private steering(name: string, values: readonly string[], site: Site, place: Place, run?: Run): void {
    const kind = steeringOf(name);
    if (kind === undefined) return;
    const because = `${name} decides what later commands do`;
    const { start, end } = site;
    const by = { program: name, start, end };
    for (const value of kind === 'settings' ? [] : values) {
      this.readText(value, place, by);
      if (kind === 'command' && !isEveryday(value)) this.notes.doubt(because, site, run);
    }
    if (kind === 'settings') this.notes.doubt(because, site, run);
  }

  /** A shell or an interpreter that is to run its input. */
  private input(run: Run, redirects: readonly Redirection[], place: Place): void {
    const [only, ...others] = redirects.filter(isOfInput);
    const texts = others.length === 0 ? inputTexts(only, place.variables) : undefined;
    if (!speaksOwnLanguage(run.program)) for (const text of texts ?? []) this.readText(text, place, run);
    // `x completion bash` is no bash that anything is piped into.
    if (run.maybe && !/[|<]/.test(this.text)) return;
    if (texts === undefined) this.doubt(`what ${run.program} runs comes from its input`, run, place);
    else if (!isShell(run.program)) this.doubt(`${run.program} runs code in a language of its own`, run, place);
  }

  private redirect(node: Redirection & { type: 'Redirect' }, place: Place): void {
    if (node.target === undefined) return;
    const site = this.siteOf(node, place);
    for (const path of expandWhole(node.target, place.variables)) {
      if (/^\/dev\/(?:tcp|udp)\//.test(path)) {
        this.notes.connections.push(site);
        this.notes.doubt('this opens a connection to the network', site);
      }
      if (/[<>]&$/.test(node.operator) && /^(?:\d+|-|\d+-)$/.test(path)) continue;
      // What stands after `>&` and is no number is expanded twice.
      if (/[<>]&$/.test(node.operator) && /[$`\0]/.test(path)) this.notes.doubt('a text is expanded once more', site);
      if (place.elsewhere) continue;
      if (node.operator.startsWith('<')) this.named.addRead(path, site);
      if (node.operator.includes('>')) this.named.add({ path, intent: 'write', certain: true }, site);
    }
  }

  private siteOf(node: SyntaxNode, place: Place): Site {
    return this.site(place, node.pos, node.end);
  }

  private site(place: Place, start: number, end = start + 1): Site {
    return place.site ?? { start: Math.min(start, this.text.length), end: Math.min(end, this.text.length) };
  }
}

function isFile({ type, operator }: Redirection): boolean {
  return type === 'Redirect' && operator === '<';
}

/** How a part of a function runs: beside the others of a pipeline, or left running. */
function started(node: SyntaxNode, child: SyntaxNode, place: Place): Place {
  if (node.type === 'Pipeline' && node.commands.length > 1) {
    const part = node.commands.findIndex((each) => each === child);
    return { ...place, start: { within: place.start, pipeline: node, part } };
  }
  const isLeft = node.type === 'Coproc' || (node.type === 'Statement' && node.background === true);
  return isLeft ? { ...place, start: beside(place) } : place;
}

function beside(place: Place): Start {
  return { within: place.start, pipeline: undefined, part: 0 };
}

function runsElsewhere({ program, args }: Run): boolean {
  return isElsewhere(
    program,
    args.map(({ text }) => text),
  );
}
