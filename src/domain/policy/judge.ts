import { literal } from '../command/expand.ts';
import { isDisk, isMachine } from '../command/pillars.ts';
import { isGivenSurety } from './given-surety.ts';
import { connects } from './network.ts';
import type { Judgement } from './judgement.ts';
import { ownCommand } from './own-commands.ts';
import { linesWritten, matchesCommand, matchesLine, mayBe, waysOf, type CommandPattern } from './pattern.ts';
import { patternsFor, type Policy, type TrustLevel } from './policy.ts';
import { readCommand } from './reading/read.ts';
import type { Construct, Reading, Run, Site } from './reading/reading.ts';
import { Reasons } from './reasons.ts';
import { shown } from './shown.ts';
import { destruction, pillarsEntered, removalDoubt } from './removal.ts';
import { secondLook } from './second-look/second-look.ts';

export interface JudgeContext {
  /** How far the caller is trusted; what the policy grants if not said. See `trustLevelOf`. */
  readonly trust?: TrustLevel;
}

const LOOKS_AT_DISKS = new Set('echo printf ls lsblk blkid findmnt df du stat file test [ grep'.split(' '));
const DATABASE_CLIENTS = new Set(
  'psql mysql mariadb sqlite3 sqlcmd duckdb clickhouse-client cockroach bq cqlsh sqlplus'.split(' '),
);

const WHY_CONFIRMED: Readonly<Record<Construct, string>> = {
  '$(': '$( runs a command within a command',
  '`': '` runs a command within a command',
  '<(': '<( runs a command within a command',
  '>(': '>( runs a command within a command',
  '<<<': '<<< gives a program its input on the line',
};

/**
 * May this command line run? Decided on what it would do, not on how it is written; total: whatever the text, there is an
 * answer, and what cannot be read is never allowed.
 */
export function judgeCommand(text: string, policy: Policy, context: JudgeContext = {}): Judgement {
  const trust = context.trust ?? policy.rules.trust;
  const reading = readCommand(text);
  const reasons = new Judge(text, policy, trust, reading).judged();
  return {
    verdict: reasons.verdict,
    unconditional: reasons.isUnconditional,
    trust,
    reasons: reasons.inOrder(),
    programs: programsOf(reading.runs),
    paths: reading.paths,
    guesses: reading.guesses,
    directories: reading.directories,
  };
}

function programsOf(runs: readonly Run[]): readonly string[] {
  const programs = new Set<string>();
  for (const { program, maybe } of runs) if (!maybe) programs.add(shown(program));
  return [...programs];
}

class Judge {
  private readonly reasons = new Reasons();
  private readonly allowed = new Set<Run>();
  private readonly text: string;
  private readonly policy: Policy;
  private readonly trust: TrustLevel;
  private readonly reading: Reading;
  private readonly entered: readonly string[];
  /** Read once: it is the same for every client on the line. */
  private stated: readonly CommandPattern[] | undefined;

  constructor(text: string, policy: Policy, trust: TrustLevel, reading: Reading) {
    this.text = text;
    this.policy = policy;
    this.trust = trust;
    this.reading = reading;
    this.entered = pillarsEntered(reading.runs);
  }

  judged(): Reasons {
    const { runs, doubts, constructs, paths, forkBombs, connections, hidden, isFlooded, isMisread } = this.reading;
    for (const site of forkBombs) this.reasons.block('a function that starts itself over and over', site);
    for (const each of paths) {
      if (each.intent === 'write' && isMachine(each.path))
        this.reasons.block(`this would overwrite ${each.path}`, each);
    }
    const whole = { start: 0, end: this.text.length };
    if (this.trust === 'blocked') this.reasons.add('deny', 'nothing runs while the tool is blocked', whole);
    if (isFlooded) this.reasons.block('there is more to it than anybody could look at', whole);
    for (const site of hidden)
      this.reasons.block('bash closes a stream here and runs what follows as a word of its own', site);
    if (isMisread) this.judgeMisread(whole);
    if (!this.policy.rules.allowNetwork)
      for (const site of connections)
        this.reasons.add('deny', 'this opens a connection, and allowNetwork is false', site);
    for (const run of runs) this.judge(run);
    for (const each of doubts) {
      if (each.run === undefined || !this.allowed.has(each.run)) this.reasons.add('ask', each.because, each);
    }
    if (this.trust !== 'trusted') {
      for (const each of constructs) {
        if (!this.policy.confirmConstructs.has(each.construct)) continue;
        this.reasons.add('ask', WHY_CONFIRMED[each.construct], each, each.construct);
      }
    }
    this.lookAgain();
    return this.reasons;
  }

  /** What of it bash takes for a command nobody knows: a blocked program that is named anywhere counts as run. */
  private judgeMisread(whole: Site): void {
    const words = new Set(
      this.text
        .replace(/\\\n|[\\'"]/g, '')
        .toLowerCase()
        .split(/[^\w.-]+/),
    );
    for (const name of this.policy.blockedPrograms) {
      if (words.has(name))
        this.reasons.block(`${name} is blocked, and this does not read as bash would read it`, whole, name);
    }
  }

  /** Whatever was made of the line so far: see `secondLook`. */
  private lookAgain(): void {
    if (this.reasons.verdict !== 'allow') return;
    const found = secondLook(this.text, this.policy, this.reading.script);
    if (found === undefined) return;
    this.reasons.add('ask', found.because, found, found.rule);
  }

  private judge(run: Run): void {
    const { policy } = this;
    const harm = destruction(run, this.entered);
    if (harm !== undefined) this.reasons.block(harm, run, undefined, run.maybe);
    this.judgeBlocked(run);
    if (policy.blocksOwnCommands) this.judgeOwnCommand(run);
    if (!policy.rules.allowNetwork) this.judgeConnection(run);
    const isNamed = policy.hasGlobs && this.judgeByRules(run);
    if (isNamed || run.maybe) return;
    if (run.by === undefined || !this.allowed.has(run.by)) this.judgeUnnamed(run);
  }

  /** By the operator's own rules; whether one of them allows the run. */
  private judgeByRules(run: Run): boolean {
    const { policy } = this;
    const ways = waysOf(run);
    const denied = run.maybe ? 'ask' : 'deny';
    for (const rule of policy.deny) {
      const match = matchesLine(rule, ways, run);
      if (match === 'yes') this.reasons.add(denied, `a deny rule names ${shown(run.program)}`, run, rule.text);
      if (match === 'maybe') this.reasons.add('ask', 'this may turn out to be what a deny rule names', run, rule.text);
    }
    if (run.maybe) return false;
    const asked = policy.ask.find((rule) => matchesLine(rule, ways, run) !== 'no');
    if (asked !== undefined) this.reasons.add('ask', `an ask rule names ${shown(run.program)}`, run, asked.text);
    // What is allowed is what was written: a file that somebody has put somewhere is not the program it is named for.
    const written = linesWritten(run);
    const allowing =
      asked === undefined ? policy.allow.find((rule) => matchesLine(rule, written, run) === 'yes') : undefined;
    if (allowing === undefined) return false;
    this.allowed.add(run);
    this.reasons.add('allow', `an allow rule names ${shown(run.program)}`, run, allowing.text);
    return true;
  }

  private judgeConnection(run: Run): void {
    const match = connects(run);
    const program = shown(run.program);
    if (match === 'yes' && !run.maybe)
      this.reasons.add('deny', `${program} talks to other machines, and allowNetwork is false`, run);
    else if (match !== 'no')
      this.reasons.add('ask', `${program} may talk to other machines, and allowNetwork is false`, run);
  }

  private judgeBlocked(run: Run): void {
    const { blocked, blockedBy } = this.policy;
    for (const pattern of patternsFor(blockedBy, run.program)) this.judgePattern(pattern, run);
    if (run.name.open || run.name.glob) {
      for (const { program, text } of blocked.filter((pattern) => mayBe(run.name, pattern.program))) {
        this.reasons.block(`this may turn out to be ${program}, which is blocked`, run, text, run.maybe);
      }
    }
    if (!LOOKS_AT_DISKS.has(run.program) && run.args.some(({ text }) => isDisk(text))) {
      this.reasons.add('ask', `${shown(run.program)} works on a disk`, run);
    }
  }

  /** Whoever is judged does not decide: not on a question, a grant, a rule or a tool's state. */
  private judgeOwnCommand(run: Run): void {
    if (isGivenSurety(run))
      this.reasons.add('ask', `${shown(run.program)} is given surety, with which only people decide`, run, 'surety');
    const own = ownCommand(run);
    if (own === 'decides')
      this.reasons.block('only people decide with surety, and not from a shell of its own', run, 'surety');
    if (own === 'may decide')
      this.reasons.add('ask', 'this may be surety, with which only people decide', run, 'surety');
    if (own === 'runs') this.reasons.add('ask', 'surety runs this by the rules of where it is started', run, 'surety');
  }

  private judgePattern(pattern: CommandPattern, run: Run): void {
    const match = matchesCommand(pattern, run);
    if (match === 'yes') this.reasons.block(`${pattern.text} is blocked`, run, pattern.text, run.maybe);
    if (match === 'maybe')
      this.reasons.add('ask', `this may turn out to be ${pattern.text}, which is blocked`, run, pattern.text);
  }

  /** What no rule of the operator's names. */
  private judgeUnnamed(run: Run): void {
    const doubt = removalDoubt(run);
    if (doubt !== undefined) this.reasons.add('ask', doubt, run);
    if (this.trust === 'untrusted')
      this.reasons.add('ask', `no rule allows ${shown(run.program)} to whom nobody trusts`, run);
    if (this.trust === 'trusted') return;
    for (const pattern of patternsFor(this.policy.confirmBy, run.program)) {
      if (matchesCommand(pattern, run) !== 'no')
        this.reasons.add('ask', `${pattern.text} is to be confirmed`, run, pattern.text);
    }
    if (DATABASE_CLIENTS.has(run.program)) this.judgeStatements(run);
  }

  /** What a database client is given are commands, too, wherever on the line they stand. */
  private judgeStatements(run: Run): void {
    this.stated ??= this.statedPatterns();
    for (const { text } of this.stated) this.reasons.add('ask', `${text} is to be confirmed`, run, text);
  }

  private statedPatterns(): readonly CommandPattern[] {
    const statements = this.text.split(/[;'"|\n]/).map((statement) => {
      const [program = '', ...words] = statement.trim().toLowerCase().split(/\s+/);
      return { program, args: words.map(literal) };
    });
    return this.policy.confirm.filter((pattern) => statements.some((each) => matchesCommand(pattern, each) !== 'no'));
  }
}
