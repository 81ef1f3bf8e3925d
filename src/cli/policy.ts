import { text as readAll } from 'node:stream/consumers';
import { Option, type Command } from 'commander';
import { judgeCommand } from '../domain/policy/judge.ts';
import type { Judgement, Reason } from '../domain/policy/judgement.ts';
import { policyOf, TRUST_LEVELS, type TrustLevel, type Verdict } from '../domain/policy/policy.ts';
import { openExecution } from '../execution/index.ts';
import type { Preview } from '../execution/index.ts';
import { findRules } from '../rules-file.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { plain, wrap } from './text.ts';
import { EXIT, UsageError } from './usage.ts';

const EXIT_OF = { allow: EXIT.ok, deny: EXIT.denied, ask: EXIT.ask } as const;

export function registerPolicy(program: Command): void {
  const policy = program.command('policy').description('what the shell policy says of a command');
  policy
    .command('check')
    .description('may this command line run? Nothing is run to find out')
    .argument('<command>', 'the command line, as bash would get it; - for standard input')
    .addOption(
      new Option('--trust <level>', 'whose command it is, instead of what the rules grant').choices(TRUST_LEVELS),
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Exit codes: 0 allow, 3 deny, 4 ask. The rules are the shell section of surety.json, and the file section for the files
that the command names: the stricter of the two holds.

Examples:
  surety policy check 'git push --force'
  surety policy check --trust untrusted --json - < deploy.sh`,
    )
    .action(action(check));
}

interface PolicyOptions {
  readonly trust?: TrustLevel;
  readonly json?: boolean;
}

async function check({ terminal }: Cli, given: string, options: PolicyOptions): Promise<number> {
  const command = given === '-' ? (await readAll(process.stdin)).replace(/\n$/, '') : given;
  if (command.trim() === '')
    throw new UsageError('there is no command', "Give it as one word: 'git status', or - for standard input.");
  const policy = policyOf((await findRules()).shell);
  const judgement = judgeCommand(command, policy, options.trust === undefined ? {} : { trust: options.trust });
  const files = await answersOfFiles(command);
  const verdict = worstOf([judgement.verdict, ...files.map((each) => each.verdict)]);
  const { width } = terminal;
  if (options.json === true) terminal.printJson({ ...judgement, verdict, textVerdict: judgement.verdict, files });
  else
    for (const line of [...linesOf(command, verdict, judgement, width), ...filesLines(judgement.verdict, files, width)])
      terminal.print(line);
  return EXIT_OF[verdict];
}

function worstOf(verdicts: readonly Verdict[]): Verdict {
  return (['deny', 'ask'] as const).find((each) => verdicts.includes(each)) ?? 'allow';
}

interface FileAnswer {
  readonly path: string;
  readonly verdict: 'ask' | 'deny';
  readonly because: string;
}

/** Whether it may touch the files that it names is for the file rules. */
async function answersOfFiles(command: string): Promise<readonly FileAnswer[]> {
  const execution = await openExecution();
  try {
    const { paths } = await execution.preview({ tool: 'shell', args: { command } });
    return paths.map(answerOf);
  } finally {
    await execution.close();
  }
}

function answerOf({ path, refusal, question, access }: Preview['paths'][number]): FileAnswer {
  if (refusal !== undefined) return { path, verdict: 'deny', because: refusal.because };
  return { path, verdict: 'ask', because: question ?? `nobody can tell before it runs which file it will ${access}` };
}

function filesLines(textVerdict: Verdict, files: readonly FileAnswer[], width: number): string[] {
  if (files.length === 0) return [];
  const lines = files.slice(0, 20).flatMap(({ verdict, because }) => wrap(plain(`${verdict}: ${because}`), width));
  return ['', ...wrap(`By its text alone: ${textVerdict}. The file rules say of what it names:`, width), ...lines];
}

function linesOf(command: string, verdict: Verdict, judgement: Judgement, width: number): string[] {
  const { unconditional, trust, programs, reasons } = judgement;
  const runs = programs.length === 0 ? 'It runs no program that can be named.' : `It runs ${programs.join(', ')}.`;
  return [
    ...wrap(plain(`${verdict}, to whoever is ${trust}. ${runs}`), width),
    ...(unconditional ? ['Nobody can lift this: no trust, no grant, no approval, no break glass.'] : []),
    ...reasons.flatMap((reason) => ['', ...underlined(command, reason), ...wrap(plain(sentence(reason)), width)]),
  ];
}

function sentence({ verdict, because, rule }: Reason): string {
  return `${verdict}: ${because}${rule === undefined ? '' : ` (${rule})`}`;
}

/** The line on which a reason stands, with carets under what it is about. */
function underlined(command: string, { start, end }: Reason): string[] {
  const from = command.lastIndexOf('\n', start - 1) + 1;
  const newline = command.indexOf('\n', start);
  const to = newline === -1 ? command.length : newline;
  // Neither what stands in front nor what is meant can be longer than a screen and still be found on it.
  const begin = Math.max(from, start - 60);
  const stop = Math.min(to, begin + 120);
  const line = plain(command.slice(begin, stop).replaceAll('\t', ' '));
  const carets = Math.max(1, Math.min(end, stop) - start);
  return [`  ${line}`, `  ${' '.repeat(start - begin)}${'^'.repeat(carets)}`];
}
