import type { Redirection } from 'unbash';
import { HOLE, literal, MADE, type Field } from '../../command/expand.ts';
import { programName } from '../../command/wrappers.ts';
import type { Calls } from './calls.ts';
import { isClient, isUsuallyFed } from '../programs/clients.ts';
import type { CommandPaths } from '../paths/command-paths.ts';
import type { Consequence } from '../programs/consequence.ts';
import { consequencesOf } from '../programs/consequences.ts';
import { isElsewhere } from '../programs/elsewhere.ts';
import { readArithmetic } from './evaluation.ts';
import { inputFile, inputTexts, isFilledIn, isOfInput, isUncertainName } from './fields.ts';
import { knownProgram } from '../programs/known-program.ts';
import { adding } from './names-found.ts';
import type { Notes } from './notes.ts';
import { isEveryday } from '../programs/named-command.ts';
import { MOST_DEPTH, type Place } from './place.ts';
import type { Doubt, Run, Site } from './reading.ts';
import { mayReadOn } from './script-on-input.ts';
import { isOddlyPutTogether, isPlainSaying, isToldInParts } from './put-together.ts';
import { isRunner } from '../programs/runners.ts';
import { isShell } from '../programs/shells.ts';
import { breaksOut, isUsualPlace, saysWhereFilesGo, spellsOutVariables, steeringOf } from './steering.ts';
import { addsToPath, isTameSetting, placesOfCode } from './tame-settings.ts';
import type { ScriptVariables } from './variables.ts';

/** Who has a text run: a program, or a variable that names one. */
export type Runs = Run | (Site & { readonly program: string });

interface Followed {
  /** The whole command line. */
  readonly text: string;
  readonly notes: Notes;
  readonly calls: Calls;
  readonly variables: ScriptVariables;
  /** Reads a text that a shell will run. */
  readonly readText: (text: string, place: Place, by: Runs) => void;
}

/** What changes the directory besides `cd` and its like. */
const MOVES = /-execdir|chdir|\s-C/;
const NOTHING_OF_ITS_OWN = [0, 0] as const;

/** Follows commands to what they run, and variables to what they decide. */
export class Follower {
  private readonly text: string;
  private readonly notes: Notes;
  private readonly named: CommandPaths;
  private readonly calls: Calls;
  private readonly variables: ScriptVariables;
  private readonly readText: Followed['readText'];
  /** Looked for once: a line may have as many scripts as it has words. */
  private readonly saysWhereItIs: boolean;
  private readonly moves: boolean;

  constructor({ text, notes, calls, variables, readText }: Followed) {
    this.text = text;
    this.notes = notes;
    this.named = notes.named;
    this.calls = calls;
    this.variables = variables;
    this.readText = readText;
    this.saysWhereItIs = /PWD|~\+|\$\(pwd\)/.test(text);
    this.moves = this.saysWhereItIs && MOVES.test(text);
  }

  /** Follows a command to what it runs. */
  follow(fields: readonly Field[], input: readonly Redirection[], place: Place, site: Site): void {
    const [name] = fields;
    if (name === undefined) return;
    const args = fields.slice(1);
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
    const all = consequencesOf(program, args);
    const consequences = program === 'xargs' && place.fed !== undefined ? adding(place.fed, all) : all;
    const from = this.named.count;
    if (!place.elsewhere) this.name(run, input, consequences);
    const own = [from, this.named.count] as const;
    if (!place.elsewhere) this.notes.follows(run, own);
    if (isToldInParts(program, args) && !run.maybe)
      this.notes.doubt(`a part of what ${program} is told is only known when it runs`, site, run);
    if (args.some(isOddlyPutTogether) && !isPlainSaying(program))
      this.notes.doubt(`a word for ${program} is put together when it runs, and may be an option`, site, run);
    if (spellsOutVariables(program)) this.variablesAmong(run, place);
    if (name.text.includes('/')) this.notes.runsFile(name.text, run, own);
    if (place.depth >= MOST_DEPTH) {
      this.notes.doubt(`what ${program} runs is nested too deeply to be read`, site, run);
      return;
    }
    // Asked once: to answer, all of its arguments are looked at, and each of them may have a consequence.
    const elsewhere = consequences.length > 0 && (place.elsewhere || runsElsewhere(run));
    for (const each of consequences) {
      if (each.type === 'file') this.notes.runsFile(each.path, run, own);
      this.consequence(each, run, input, place, elsewhere);
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

  private consequence(
    each: Consequence,
    run: Run,
    input: readonly Redirection[],
    place: Place,
    elsewhere: boolean,
  ): void {
    switch (each.type) {
      case 'command': {
        const through = [...place.through, run.program];
        const maybe = place.maybe || each.maybe === true;
        const by = isRunner(run.program) ? run : undefined;
        const isUnheard = each.maybe === true && !elsewhere && knownProgram(run.program).isStranger;
        const stranger = isUnheard ? run : place.stranger;
        const within = { ...place, through, depth: place.depth + 1, maybe, by, elsewhere, stranger, fed: undefined };
        this.inItsShell(run.program, () => this.follow(each.fields, input, within, run));
        return;
      }
      case 'script':
        if (this.saysWhereItIs && (this.moves || this.named.where.directories.length > 0))
          this.notes.doubt('where it is by then may be read as a command', run, run);
        this.inItsShell(run.program, () => this.readText(each.text, { ...place, elsewhere }, run));
        return;
      case 'input':
        this.inItsShell(run.program, () => this.input(run, input, { ...place, elsewhere }));
        return;
      case 'file':
        if (!elsewhere) this.named.addRead(each.path, run);
        if (runsFiles(run.program)) this.notes.runs.push(runOf(each.path, run));
        return;
      case 'variable': {
        const value = each.value ?? MADE;
        this.steering(each.name, [value], run, place, run);
        this.notes.sets(() => [value]);
        this.variables.assign(run.start, each.name, value);
        if (each.isArray === true) this.variables.learnArray(each.name);
        if (value.startsWith(HOLE) && each.value !== undefined && this.variables.isArray(each.name))
          this.notes.doubt('the elements of an array are evaluated', run, run);
        return;
      }
      case 'variables':
        this.variables.loseSight();
        return;
      case 'voices':
        this.variables.loseCounters();
        return;
      case 'arithmetic': {
        const because = readArithmetic(each.text, this.variables);
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

  /** A variable that decides what later commands do: what it names is followed where it is a command. */
  steering(name: string, values: readonly string[], site: Site, place: Place, run?: Run): void {
    if (saysWhereFilesGo(name) && !place.elsewhere)
      for (const path of values)
        if (!isUsualPlace(path)) this.named.add({ path, intent: 'write', certain: false }, site);
    const kind = steeringOf(name);
    if (kind === undefined) return;
    const because = `${name} decides what later commands do`;
    if (name === 'PATH' && place.site === undefined && addsToPath(this.text.slice(site.start, site.end))) {
      this.notes.findsPrograms({ because, ...site });
      return;
    }
    const { start, end } = site;
    const by = { program: name, start, end };
    for (const value of values) {
      if (kind === 'settings') this.setting(name, value, { because, ...site, ...(run && { run }) }, place);
      else this.readText(value, place, by);
      if (kind === 'command' && !isEveryday(value)) this.notes.doubt(because, site, run);
    }
  }

  /** What only says where code is looked for is as good as naming the files there. */
  private setting(name: string, value: string, doubt: Doubt, place: Place): void {
    if (isTameSetting(name, value)) return;
    const places = placesOfCode(name, value);
    if (places === undefined) this.notes.doubt(doubt.because, doubt, doubt.run);
    else this.notes.looksForCode(places, doubt, place.site !== undefined);
  }

  /** A shell or an interpreter that is to run its input. */
  private input(run: Run, redirects: readonly Redirection[], place: Place): void {
    const [only, ...others] = redirects.filter(isOfInput);
    const texts = others.length === 0 ? inputTexts(only, place.variables) : undefined;
    const speaksOwnLanguage = knownProgram(run.program).language !== undefined || isClient(run.program);
    // What is said to it it may not get to read: that it asks all the same is told below.
    const said = only === undefined && place.said !== undefined ? [place.said] : [];
    if (!speaksOwnLanguage) for (const text of texts ?? said) this.readText(text, { ...place, said: undefined }, run);
    if (!speaksOwnLanguage && texts?.some((text) => this.variables.hasOwnReaders || mayReadOn(text)) === true)
      this.doubt(`a part of what ${run.program} reads may be read by what it runs`, run, place);
    if (!speaksOwnLanguage && only !== undefined && isFilledIn(only))
      this.doubt(`what ${run.program} runs is put together when it runs`, run, place);
    // `x completion bash` is no bash that anything is piped into.
    const isRarelyFed = run.maybe || knownProgram(run.program).isEditor;
    if (isRarelyFed && !/[|<]/.test(this.text)) return;
    const isOfFile = others.length === 0 && isUsuallyFed(run.program);
    const file = isOfFile ? inputFile(only, place.variables) : undefined;
    if (file !== undefined) this.notes.runsFile(file, run, NOTHING_OF_ITS_OWN);
    else if (texts === undefined) this.doubt(`what ${run.program} runs comes from its input`, run, place);
    else if (!isShell(run.program)) this.doubt(`${run.program} runs code in a language of its own`, run, place);
  }
}

function runsFiles(program: string): boolean {
  const { isShell: isOne, language } = knownProgram(program);
  return isOne || language !== undefined || program === '.' || program === 'source';
}

/** `sh /usr/bin/x` is x, if that is a script. */
function runOf(path: string, by: Run): Run {
  const at = by.args.findIndex(({ text }) => text === path);
  return {
    ...by,
    ...{ program: programName(path).toLowerCase(), name: literal(path), args: by.args.slice(at + 1), maybe: true, by },
  };
}

function isFile({ type, operator }: Redirection): boolean {
  return type === 'Redirect' && operator === '<';
}

function runsElsewhere({ program, args }: Run): boolean {
  return isElsewhere(
    program,
    args.map(({ text }) => text),
  );
}
