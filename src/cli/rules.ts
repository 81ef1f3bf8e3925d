import type { Command } from 'commander';
import { InvalidRules } from '../domain/rules/parse-rules.ts';
import type { Rules } from '../domain/rules/rules.schema.ts';
import { plural } from '../domain/trust/tally.ts';
import { readPublication } from '../postgres/read-publication.ts';
import { currentRules, publishRules } from '../postgres/rules.ts';
import { Problem } from '../problem.ts';
import { findRulesFile, readRulesFile, rulesFiles } from '../rules-file.ts';
import { BY, signedBy } from './actor.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { confirmed } from './confirm.ts';
import { withLedger } from './ledger.ts';
import { changesBetween, changesFromDefaults } from './rules-diff.ts';
import { plain, wrap } from './text.ts';
import { clock, iso } from './time.ts';
import { EXIT } from './usage.ts';

export function registerRules(program: Command): void {
  const rules = program.command('rules').description('validate, publish or show what governs trust');
  rules
    .command('validate')
    .description('say whether a file holds valid rules, and where it does not')
    .argument('[file]', 'surety.json of the project, then of the user, if absent')
    .option('--json', 'print JSON')
    .action(action(validate));
  rules
    .command('publish')
    .description('put a file in force, as a new version')
    .argument('[file]', 'surety.json of the project, then of the user, if absent')
    .option('--comment <text>', 'why', '')
    .option('--by <name>', BY)
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  surety rules publish surety.json --comment "bash may fail more often"')
    .action(action(publish));
  rules
    .command('show')
    .description('the rules in force, where they differ from the defaults')
    .option('--json', 'print all of them as JSON')
    .action(action(show));
}

async function rulesIn(file: string | undefined): Promise<{ file: string; rules: Rules }> {
  if (file !== undefined) return { file, rules: await readRulesFile(file) };
  const found = await findRulesFile();
  if (found !== undefined) return found;
  throw new Problem(`There is no ${rulesFiles().join(' and no ')}.`, 'Name a file. An empty one, {}, is valid too.');
}

async function validate({ terminal }: Cli, given: string | undefined, options: { json?: boolean }): Promise<number> {
  try {
    const { file, rules } = await rulesIn(given);
    if (options.json === true) terminal.printJson({ valid: true, file, complaints: [] });
    else terminal.print(`${file} is valid: ${summary(rules)}.`);
    return EXIT.ok;
  } catch (error) {
    const complaints = error instanceof Problem && error.cause instanceof InvalidRules ? error.cause.complaints : null;
    if (options.json !== true || complaints === null) throw error;
    terminal.printJson({ valid: false, file: given ?? null, complaints });
    return EXIT.error;
  }
}

async function publish(
  cli: Cli,
  given: string | undefined,
  options: { comment: string; by?: string; yes?: boolean },
): Promise<number> {
  const { terminal } = cli;
  const { file, rules } = await rulesIn(given);
  return withLedger(cli.config, async (pool) => {
    const by = await signedBy(pool, cli.config, options.by, 'operator');
    const before = await currentRules(pool);
    const changes = changesBetween(before.rules, rules);
    if (changes.length === 0) {
      terminal.print(`${file} says what version ${before.version} says already; nothing to publish.`);
      return EXIT.ok;
    }
    terminal.print(`${file} against version ${before.version}:`);
    printList(
      cli,
      changes.map(({ path, from, to }) => `${path}: ${from} → ${to}`),
    );
    if (!(await confirmed(cli, 'Publish it for everyone who uses this ledger?', options.yes))) return EXIT.error;
    const version = await publishRules(pool, rules, by, options.comment);
    terminal.print(`Version ${version} is in force.`);
    return EXIT.ok;
  });
}

async function show(cli: Cli, options: { json?: boolean }): Promise<number> {
  const { terminal } = cli;
  return withLedger(cli.config, async (pool) => {
    const { rules, version, unreadable } = await currentRules(pool);
    if (unreadable !== undefined)
      terminal.complain(plain(`Version ${unreadable.version} cannot be read by this Surety: ${unreadable.complaint}`));
    const publication = await readPublication(pool, version);
    const { publishedAt, publishedBy, comment } = publication ?? { publishedAt: null, publishedBy: null, comment: '' };
    if (options.json === true) {
      terminal.printJson({
        ...{ version, publishedBy, comment },
        publishedAt: publishedAt === null ? null : iso(publishedAt),
        rules,
      });
      return EXIT.ok;
    }
    const by = publishedAt === null ? 'nobody has published any' : `${publishedBy} at ${clock(publishedAt)} UTC`;
    terminal.print(`Rules version ${version} (${by}${comment === '' ? '' : `: ${plain(comment)}`})`);
    const differences = changesFromDefaults(rules).map(({ path, to }) => `${path}: ${to}`);
    if (differences.length === 0) terminal.print('  Everything is as by default; see docs/rules.md, or --json.');
    else printList(cli, differences);
    return EXIT.ok;
  });
}

function printList({ terminal }: Cli, items: readonly string[]): void {
  for (const item of items) {
    const [first = '', ...rest] = wrap(plain(item), terminal.width - 4);
    terminal.print(`  ${first}`);
    for (const line of rest) terminal.print(`    ${line}`);
  }
}

function summary({ toolRules, domainRules, serverRules, enforce }: Rules): string {
  const count = (byName: object, level: string) => plural(Object.keys(byName).length, `${level} rule`);
  const counts = [count(toolRules, 'tool'), count(domainRules, 'domain'), count(serverRules, 'server')];
  return `${counts.join(', ')}${enforce ? '' : '; shadow mode'}`;
}
