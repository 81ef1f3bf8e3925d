import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type pg from 'pg';
import { coverage } from '../domain/approval/grant.ts';
import type { GrantTerms } from '../domain/approval/grant.ts';
import type { Verb } from '../domain/approval/message.ts';
import { inexactNumber } from '../domain/outcome/exact-number.ts';
import { redactText } from '../domain/outcome/redact.ts';
import { decide, untilTold } from '../postgres/approval-decide.ts';
import { findApprovals, readPending } from '../postgres/read-approvals.ts';
import type { ShownApproval } from '../postgres/read-approvals.ts';
import { Problem, reasonOf } from '../problem.ts';
import { nameOf, pendingTable } from './approvals.ts';
import { actorOf, BY } from './actor.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { chooseId } from './choose.ts';
import { confirmed } from './confirm.ts';
import { withLedger } from './ledger.ts';
import { nearMiss, shortId } from './short-id.ts';
import { plain } from './text.ts';
import { fromNow, parseDuration } from './time.ts';
import { EXIT, parseCount, UsageError } from './usage.ts';

interface DecideOptions {
  readonly session?: boolean;
  readonly for?: number;
  readonly always?: boolean;
  readonly covers?: 'arguments' | 'scope' | 'tool';
  readonly where?: readonly string[];
  readonly edit?: string;
  readonly reason?: string;
  readonly by?: string;
  readonly expectVersion?: number;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const TOLD_WITHIN_MS = 15_000;
const MOST_LISTED = 20;
const MOST_COMPARED = 1000;
const UNPROVEN = `${BY}, and refused once there are tokens`;

export function registerDecide(program: Command): void {
  program
    .command('approve')
    .description('let a held call run')
    .argument('[id]', 'as `surety approvals` lists it; on a terminal you can choose')
    .option('--session', 'also later calls of the same session')
    .option('--for <duration>', 'also later calls, for so long: 30m, 8h', parseDuration)
    .option('--always', 'also later calls, until it is revoked')
    .option('--covers <what>', 'what later calls: arguments (the same), scope or tool', parseCovers)
    .option('--where <name=glob>', 'later calls whose argument matches; may be repeated', collect)
    .option('--edit <file>', 'arguments to run instead, as JSON; - reads standard input')
    .option('--reason <text>', 'why')
    .option('--by <name>', UNPROVEN)
    .option('--expect-version <n>', 'refuse if the question has changed since this version', parseCount)
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Without --session, --for or --always the very call that asked may run, once.
In a glob * stands for anything and ? for one character; \\*, \\? and \\\\ stand for
themselves.

Examples:
  surety approve 1f2e3d4c
  surety approve 1f2e3d4c --for 8h --covers scope --reason "watched by ops"
  surety approve 1f2e3d4c --always --where 'path=/srv/data/*'
  surety approve 1f2e3d4c --always --where 'command=cat \\*'
  surety approve 1f2e3d4c --edit safer.json`,
    )
    .action(action((cli, id: string | undefined, options: DecideOptions) => run(cli, 'approve', id, options)));
  program
    .command('deny')
    .description('refuse a held call')
    .argument('[id]', 'as `surety approvals` lists it; on a terminal you can choose')
    .option('--reason <text>', 'why: the agent reads it')
    .option('--by <name>', UNPROVEN)
    .option('--expect-version <n>', 'refuse if the question has changed since this version', parseCount)
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .action(action((cli, id: string | undefined, options: DecideOptions) => run(cli, 'deny', id, options)));
  program
    .command('extend')
    .description('keep a question open for longer')
    .argument('[id]', 'as `surety approvals` lists it; on a terminal you can choose')
    .requiredOption('--for <duration>', 'for so much longer: 30m, 8h, 2d', parseDuration)
    .option('--reason <text>', 'why')
    .option('--by <name>', UNPROVEN)
    .option('--json', 'print JSON')
    .action(action((cli, id: string | undefined, options: DecideOptions) => run(cli, 'extend', id, options)));
}

async function run(cli: Cli, verb: Verb, typed: string | undefined, options: DecideOptions): Promise<number> {
  return withLedger(cli.config, async (pool) => {
    const actor = await actorOf(pool, cli.config, options.by, ['approver']);
    const approval = typed === undefined ? await choose(cli, pool) : await found(pool, typed);
    if (approval === undefined) return EXIT.ok;
    const grant = verb === 'approve' ? grantIn(options) : undefined;
    if (grant?.kind === 'session' && approval.session === null) {
      throw new UsageError('The call names no session.', 'Give --for or --always instead.');
    }
    const edit = options.edit === undefined ? undefined : editIn(await textOf(options.edit));
    if (options.json !== true) show(cli, approval, grant, edit);
    // Whoever names the version has seen what it is about.
    const isSeen = verb === 'extend' || options.expectVersion !== undefined;
    if (!isSeen && !(await confirmed(cli, `${QUESTION[verb]} it?`, options.yes))) return EXIT.error;
    const decision = await decide(pool, {
      approval: approval.id,
      verb,
      by: actor.name,
      ...(actor.token === undefined ? {} : { token: actor.token }),
      reason: redactText(options.reason ?? '', 500),
      // What was looked at is what is decided on: if it changes in between, nothing happens.
      expectedVersion: options.expectVersion ?? approval.version,
      ...(grant === undefined ? {} : { grant }),
      ...(verb === 'extend' ? { extendSeconds: Math.ceil((options.for ?? 0) / 1000) } : {}),
      ...(edit === undefined ? {} : { edit }),
    });
    return report(cli, pool, decision, approval, verb, options);
  });
}

async function found(pool: pg.Pool, typed: string): Promise<ShownApproval> {
  const [one, another] = await findApprovals(pool, typed);
  if (one === undefined) {
    const open = (await readPending(pool, MOST_COMPARED)).map(({ id }) => id);
    const wayOut = nearMiss(open, typed) ?? '`surety approvals` lists what is open.';
    throw new Problem(`There is no question ${JSON.stringify(typed)}.`, wayOut);
  }
  if (another !== undefined && one.status === another.status) {
    throw new Problem(
      `${JSON.stringify(typed)} may mean several questions.`,
      `Type more of it: ${one.id}, ${another.id}, …`,
    );
  }
  return one;
}

async function choose(cli: Cli, pool: pg.Pool): Promise<ShownApproval | undefined> {
  const none = 'Nothing waits for a person.';
  const words = { which: 'Which question?', listed: '`surety approvals` lists them.', none };
  const pending = await readPending(pool, MOST_LISTED);
  const typed = await chooseId(cli, words, pending, (from) => pendingTable(cli, from));
  return typed === undefined ? undefined : found(pool, typed);
}

function show({ terminal }: Cli, approval: ShownApproval, grant: GrantTerms | undefined, edit: unknown): void {
  terminal.print(
    terminal.paint('bold', plain(nameOf(approval))) +
      (approval.agent === null ? '' : `, asked by ${plain(approval.agent)}`),
  );
  terminal.print(`  ${plain(approval.because)}`);
  const what = edit === undefined ? approval.arguments : edit;
  const lines = what === null ? ['its arguments are too large to be shown'] : JSON.stringify(what, null, 2).split('\n');
  for (const line of lines) terminal.print(`  ${plain(line)}`);
  if (grant !== undefined) terminal.print(`  Grants ${plain(coverage(grant, nameOf(approval), approval.scope))}.`);
}

function grantIn({ session, for: forMs, always, covers, where = [] }: DecideOptions): GrantTerms {
  const kinds = [session === true, forMs !== undefined, always === true].filter(Boolean);
  if (kinds.length > 1) throw new UsageError('--session, --for and --always exclude each other.', 'Give one of them.');
  const isWide = covers !== undefined || where.length > 0;
  if (kinds.length === 0 && isWide) {
    throw new UsageError('--covers and --where are about later calls.', 'Add --session, --for or --always.');
  }
  const pattern = Object.fromEntries(
    where.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]),
  );
  return {
    kind: session === true ? 'session' : forMs !== undefined ? 'until' : always === true ? 'always' : 'once',
    ...(forMs === undefined ? {} : { until: Date.now() + forMs }),
    ...(covers === undefined ? {} : { covers }),
    ...(where.length === 0 ? {} : { pattern }),
  };
}

async function report(
  { terminal }: Cli,
  pool: pg.Pool,
  decision: string,
  approval: ShownApproval,
  verb: Verb,
  { json }: DecideOptions,
): Promise<number> {
  const told = await untilTold(pool, decision, TOLD_WITHIN_MS);
  if (told === undefined) {
    throw new Problem(
      `The decision is recorded, and nobody has taken it within ${TOLD_WITHIN_MS / 1000} s: the worker seems to be down.`,
      'It counts as soon as a worker runs. `surety doctor` tells more.',
    );
  }
  const id = shortId(approval.id);
  if (told.outcome === 'refused') {
    const wayOut = `\`surety approvals --decided\` shows what became of ${id}.`;
    throw new Problem(`${DONE[verb]} nothing: ${told.because}.`, wayOut);
  }
  const said = `${DONE[verb]} ${id}, asked ${fromNow(approval.askedAt, Date.now())}.`;
  if (json === true) terminal.printJson({ approval: approval.id, decision, outcome: told.outcome });
  else terminal.print(terminal.paint('green', said));
  return EXIT.ok;
}

const QUESTION: Readonly<Record<Verb, string>> = {
  approve: 'Approve',
  deny: 'Deny',
  extend: 'Extend',
  withdraw: 'Withdraw',
};
const DONE: Readonly<Record<Verb, string>> = {
  approve: 'Approved',
  deny: 'Denied',
  extend: 'Extended',
  withdraw: 'Withdrew',
};

function parseCovers(text: string): string {
  if (text === 'arguments' || text === 'scope' || text === 'tool') return text;
  throw new UsageError(`--covers ${JSON.stringify(text)} is none of arguments, scope, tool.`, 'Give one of them.');
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  if (!/^[^=]+=.+/s.test(text))
    throw new UsageError(`--where ${JSON.stringify(text)} names no argument.`, "Write it like --where 'path=/srv/*'.");
  return [...before, text];
}

function editIn(json: string): unknown {
  const found = inexactNumber(json);
  if (found !== undefined)
    throw new UsageError(`${found} cannot be kept exactly as a number.`, 'Write it as a string.');
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new UsageError(`--edit is not JSON: ${reasonOf(error)}`, 'Give the arguments to run instead as JSON.');
  }
}

async function textOf(file: string): Promise<string> {
  if (file !== '-')
    return readFile(file, 'utf8').catch(() => {
      throw new UsageError(`${file} cannot be read.`, 'Give a file with the arguments as JSON.');
    });
  return text(process.stdin);
}
