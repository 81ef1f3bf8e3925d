import {
  parse,
  type ArithmeticCommandExpansion,
  type Assignment,
  type Command,
  type CommandExpansionPart,
  type For,
  type HereDoc,
  type ParameterExpansionPart,
  type ParsedScript,
  type Pipeline,
  type Redirection,
  type Script,
  type Select,
  type SyntaxNode,
} from 'unbash';
import { expandWhole, HOLE, NUMBER } from '../../command/expand.ts';
import { Calls } from './calls.ts';
import { isReadOtherwise } from './dialect.ts';
import { backtickReadings, hereDocumentTexts, splitText } from './differences.ts';
import { EVALUATED, evaluationDoubt } from './evaluation.ts';
import { replacesInput, waysOf } from './fields.ts';
import { Follower, type Runs } from './follower.ts';
import { fedTo } from './names-found.ts';
import { isOddlyWritten, isOddText } from './odd-writing.ts';
import { Notes, syntaxDoubt } from './notes.ts';
import { closesAndGoesOn, isBare, isOverlooked } from './overlooked.ts';
import { beside, MOST_DEPTH, outermost, started, type Place } from './place.ts';
import type { Site } from './reading.ts';
import { saidTo } from './printed.ts';
import { isTelling } from './steering.ts';
import { isTangled } from './tangle.ts';
import { isForReadAlone, type ScriptVariables } from './variables.ts';
import { isWrittenOut } from './syntax.ts';
import { isStream } from './streams.ts';
import { walk } from './walk.ts';
import { isLost } from '../paths/whereabouts.ts';

/** Where what is said is shown. */
const OWN_OUTPUT = /^(?:-|\/dev\/(?:std(?:out|err)|tty\d*|fd\/[12]|full|zero|(?:tcp|udp)\/.*))$/;
const ODD = 'this is written as hardly anybody writes, and may mean something else';
/** Walks a parsed script and notes what it would run. */
export class Reader {
  readonly notes = new Notes();
  private readonly named = this.notes.named;
  private readonly calls = new Calls();
  private readonly text: string;
  private readonly variables: ScriptVariables;
  private readonly follower: Follower;

  constructor(text: string, variables: ScriptVariables) {
    this.text = text;
    this.variables = variables;
    const { notes, calls } = this;
    const readText: Reader['readText'] = (...given) => this.readText(...given);
    this.follower = new Follower({ text, notes, calls, variables, readText });
  }

  readOutermost(script: Script): void {
    this.notes.script = script;
    const place = outermost(this.text, this.variables);
    this.readScript(script, place);
    this.notes.forkBombs.push(...this.calls.bombs());
    if (this.calls.isFull) this.notes.doubt('its functions call more than anybody could follow', this.site(place, 0));
    if (this.isReadAsWords()) this.notes.doubt('where it is by then may be read as several words', this.site(place, 0));
    if (this.variables.evaluatesWords) this.notes.doubt(EVALUATED, this.site(place, 0));
    this.notes.finish();
  }

  /** `$PWD` without quotes, where a directory changed to is called `x y`, or nobody knows what. */
  private isReadAsWords(): boolean {
    if (!/PWD|\$\(pwd\)/.test(this.text)) return false;
    const { directories, here } = this.named.where;
    if (directories.some((each) => /[\s*?[]/.test(each))) return true;
    return isLost(here) && /(?:^|[\s;&|(])(?:\$\{?(?:OLD)?PWD\}?|\$\(pwd\))(?:[\s;&|)/]|$)/.test(this.text);
  }

  private readScript(script: ParsedScript, place: Place): void {
    if (isOddText(place.source, script)) this.notes.doubt(ODD, this.site(place, 0, place.source.length));
    this.readPart(script, place);
  }

  /** A script whose text is a part of one that is read already. */
  private readPart(script: ParsedScript, place: Place): void {
    const [error] = script.errors ?? [];
    if (error !== undefined && place.depth === 0) this.notes.isBroken = true;
    if (error !== undefined) this.notes.doubt(syntaxDoubt(error.message), this.site(place, error.pos));
    this.visitAll(script, place);
  }

  private visitAll(node: SyntaxNode, place: Place): void {
    walk(node, this.named, (child) => {
      if (isForReadAlone(node, child)) return;
      const at = place.within === undefined ? place : started(node, child, place);
      this.visit(child, node.type === 'Pipeline' ? this.inPipeline(node, child, at) : at);
    });
  }

  private inPipeline(pipeline: Pipeline, part: SyntaxNode, place: Place): Place {
    if (part === pipeline.commands[0]) return place;
    const fed = fedTo(pipeline, part);
    const isUnsure = fed === 'names' && this.variables.hasOwnCounters;
    return { ...place, fed: isUnsure ? undefined : fed, said: saidTo(pipeline, part) };
  }

  /** A text that a shell will run: `bash -c`, `eval`, a here-document. */
  private readText(text: string, place: Place, by: Runs): void {
    const site = { start: by.start, end: by.end };
    const run = 'name' in by ? by : undefined;
    if (isReadOtherwise(text, by.program, place.through))
      this.notes.doubt(`${by.program} may hand this to a shell that does not read it as bash does`, site, run);
    if (text.includes(HOLE))
      this.notes.doubt(`a part of what ${by.program} runs is only known when it runs`, site, run);
    if (place.depth >= MOST_DEPTH || text.length > this.text.length * 4 + 256 || isTangled(text)) {
      this.notes.doubt(`what ${by.program} runs is nested too deeply to be read`, site, run);
      return;
    }
    const variables = this.variables.anywhere;
    // A hole is no word of the shell's, but where it stands matters: it is read as a variable nobody has set.
    const source = text.replace(/\0[\ufdd0\ufdd1]?/g, '${_}').replaceAll(NUMBER, '0');
    const script = parse(source);
    this.variables.collectOnce(`${place.depth} ${source}`, script, variables);
    const through = [...place.through, by.program];
    this.readScript(script, {
      ...place,
      ...{ source, isBare: isBare(source), variables, site, through, by: undefined, depth: place.depth + 1 },
    });
  }

  private visit(node: SyntaxNode, place: Place): void {
    if (place.isBare && node.type === 'Word' && node.parts === undefined) return;
    if (isOverlooked(node)) {
      this.notes.isMisread = true;
      this.notes.doubt('this does not read as bash would read it', this.siteOf(node, place));
    }
    if (isOddlyWritten(node)) this.notes.doubt(ODD, this.siteOf(node, place));
    if (closesAndGoesOn(node)) this.notes.hidden.push(this.siteOf(node, place));
    // Most words are plain.
    if (node.type === 'Word' && node.parts === undefined) return;
    if (node.type === 'Command') {
      const { here } = this.named.where;
      this.command(node, place);
      if (place.isBare && node.prefix.length === 0 && node.redirects.length === 0) return;
      // Its redirections and substitutions come before it.
      const within = { ...place, fed: undefined, said: undefined };
      this.named.where.apart(() => this.visitParts(node, within), here);
      return;
    }
    this.visitParts(node, place);
  }

  private visitParts(node: SyntaxNode, place: Place): void {
    switch (node.type) {
      case 'Assignment':
      case 'For':
      case 'Select':
        this.assignment(node, place);
        break;
      case 'HereString':
        this.notes.construct('<<<', this.siteOf(node, place));
        break;
      case 'Redirect':
        this.redirect(node, place);
        break;
      case 'HereDoc':
        this.hereDocument(node, place);
        break;
      case 'ParameterExpansion':
        this.defaultValue(node, place);
        this.splitting(node, place);
        break;
      case 'Coproc':
        if (node.name !== undefined && isTelling(node.name.text))
          this.follower.steering(node.name.text, [NUMBER], this.siteOf(node, place), place);
        break;
      case 'Function':
        this.calls.defined(node.name.value, this.siteOf(node, place));
        this.visitAll(node, { ...place, within: node.name.value, start: undefined });
        return;
      case 'CommandExpansion':
      case 'ArithmeticCommandExpansion':
        this.commandExpansion(node, place);
        return;
      case 'ProcessSubstitution':
        this.notes.construct(node.operator === '<' ? '<(' : '>(', this.siteOf(node, place));
        this.named.made.loseOrder();
        this.named.where.apart(() => this.substitution(node.script, node, { ...place, start: beside(place) }));
        return;
      default:
    }
    const evaluated = evaluationDoubt(node, place.source, place.variables, this.variables);
    if (evaluated !== undefined) this.notes.doubt(evaluated, this.siteOf(node, place));
    this.visitAll(node, place);
  }

  private commandExpansion(node: CommandExpansionPart | ArithmeticCommandExpansion, place: Place): void {
    if (!isWrittenOut(node.script))
      this.notes.construct(node.text.startsWith('`') ? '`' : '$(', this.siteOf(node, place));
    this.named.made.loseOrder();
    this.named.where.apart(() => this.substitution(node.script, node, place));
    for (const text of backtickReadings(node.text)) {
      const by = { program: 'a substitution', ...this.siteOf(node, place) };
      this.named.where.apart(() => this.readText(text, place, by));
    }
  }

  private splitting(node: ParameterExpansionPart, place: Place): void {
    const within = splitText(node);
    if (within === undefined) return;
    const by = { program: 'an expansion', ...this.siteOf(node, place) };
    this.named.where.apart(() => this.readText(within, place, by));
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
      this.readPart(script, place);
      return;
    }
    const variables = this.variables.anywhere;
    const { source } = script;
    this.readScript(script, { ...place, source, isBare: isBare(source), variables, site: this.siteOf(node, place) });
  }

  private command(node: Command, place: Place): void {
    if (node.name === undefined) return;
    const site = this.siteOf(node, place);
    const ways = waysOf([node.name, ...node.args], place.variables);
    if (ways === undefined) this.notes.doubt('this may turn out in too many ways', site);
    if (replacesInput(node)) this.notes.doubt('what is read from here on is something else', site);
    for (const fields of ways ?? []) this.follower.follow(fields, node.redirects, place, site);
  }

  private assignment(node: Assignment | For | Select, place: Place): void {
    const name = node.type === 'Assignment' ? node.name : node.name.value;
    if (node.type !== 'Assignment')
      this.notes.sets(() => node.wordlist?.flatMap((word) => expandWhole(word, place.variables)) ?? []);
    const word = node.type === 'Assignment' && node.value.type === 'Word' ? node.value : undefined;
    if (word !== undefined) this.notes.sets(() => expandWhole(word, place.variables));
    if (!isTelling(name)) return;
    const isKnown = word !== undefined && node.type === 'Assignment' && node.append !== true;
    const values = isKnown ? expandWhole(word, place.variables) : [HOLE];
    this.follower.steering(name, values, this.siteOf(node, place), place);
  }

  /** `${X:=y}` sets X as `X=y` does. */
  private defaultValue(node: ParameterExpansionPart, place: Place): void {
    const { operation, parameter } = node;
    if (operation?.type !== 'Default' || !operation.operator.includes('=')) return;
    const values = () => expandWhole(operation.operand, place.variables);
    this.notes.sets(values);
    if (isTelling(parameter)) this.follower.steering(parameter, values(), this.siteOf(node, place), place);
  }

  private redirect(node: Redirection & { type: 'Redirect' }, place: Place): void {
    if (node.descriptor?.type === 'FileDescriptorVariable') this.descriptorVariable(node, node.descriptor.name, place);
    if (node.target === undefined) return;
    const site = this.siteOf(node, place);
    const isDuplicating = node.operator.endsWith('&');
    for (const path of expandWhole(node.target, place.variables)) {
      if (/^\/dev\/(?:tcp|udp)\//.test(path)) {
        this.notes.connections.push(site);
        this.notes.doubt('this opens a connection to the network', site);
      }
      if (isDuplicating && /^(?:\d+|-|\d+-)$/.test(path)) continue;
      if (node.operator.includes('>') && isStream(path) && !OWN_OUTPUT.test(path))
        this.notes.doubt('what is written there others read', site);
      // What stands after `>&` and is no number is expanded twice.
      if (isDuplicating && !/^[\w./~@%+:,=-]+$/.test(path)) this.notes.doubt('a text is expanded once more', site);
      if (place.elsewhere) continue;
      if (node.operator.startsWith('<')) this.named.addRead(path, site);
      if (node.operator.includes('>')) this.named.add({ path, intent: 'write', certain: true }, site);
    }
  }

  /** `{x}>file` sets x. */
  private descriptorVariable(node: Redirection, name: string, place: Place): void {
    if (/\[/.test(place.source.slice(node.pos, node.end)))
      this.notes.doubt('the subscript of an array is evaluated', this.siteOf(node, place));
    this.variables.setToNumber(name);
    if (isTelling(name)) this.follower.steering(name, [NUMBER], this.siteOf(node, place), place);
  }

  private siteOf(node: SyntaxNode, place: Place): Site {
    return this.site(place, node.pos, node.end);
  }

  private site(place: Place, start: number, end = start + 1): Site {
    return place.site ?? { start: Math.min(start, this.text.length), end: Math.min(end, this.text.length) };
  }
}
