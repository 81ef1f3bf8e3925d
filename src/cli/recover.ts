import type { Command } from 'commander';
import { partName } from '../domain/trust/part-view.ts';
import type { KnownSubject } from '../postgres/read-subjects.ts';
import { Problem } from '../problem.ts';
import { BY, signedBy } from './actor.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { withLedger } from './ledger.ts';
import { carryOut, partsReached, scopeIn } from './order.ts';
import type { OrderOptions } from './order.ts';
import { counted, shownName, subjectsMatching, typed } from './subject.ts';
import { EXIT } from './usage.ts';

export function registerRecover(program: Command): void {
  program
    .command('recover')
    .description('end an escalation: one call at a time is tried')
    .argument('<pattern>', 'name, server/name, server:name, or a glob')
    .option('--scope <scope>', 'only this host, program or directory')
    .option('--reason <text>', 'why, for the audit')
    .option('--by <name>', BY)
    .option('--no-wait', 'return as soon as the order is recorded')
    .addHelpText(
      'after',
      `
Trust is earned back by successes; nothing is lost, so nothing is asked.

Examples:
  surety recover http_request --scope api.example.com --reason "their status page is green"
  surety recover server:atlassian`,
    )
    .action(action(recover));
}

const MOST_NAMED = 5;

async function recover(cli: Cli, pattern: string, options: OrderOptions): Promise<number> {
  const scope = scopeIn(options);
  return withLedger(cli.config, async (pool) => {
    const by = await signedBy(pool, cli.config, options.by, 'operator');
    const matching = await subjectsMatching(pool, pattern);
    const isEscalated = (subject: KnownSubject) =>
      partsReached(subject, scope).some(({ status }) => status === 'ESCALATED');
    const subjects = matching.filter(isEscalated);
    const blocked = matching.filter((subject) =>
      partsReached(subject, scope).some(({ status }) => status === 'BLOCKED'),
    );
    if (blocked.length > 0) {
      const names = blocked.slice(0, MOST_NAMED).map(shownName).join(', ');
      const more = blocked.length > MOST_NAMED ? ` and ${blocked.length - MOST_NAMED} more` : '';
      cli.terminal.complain(`BLOCKED, which only \`surety reset\` lifts: ${names}${more}`);
    }
    if (subjects.length === 0) throw nothingToRecover(matching, scope);
    const { reason } = options;
    await carryOut(cli, pool, { order: 'recover', subjects, scope, by, reason }, options.wait);
    return EXIT.ok;
  });
}

function nothingToRecover(matching: readonly KnownSubject[], scope: string | undefined): Problem {
  const [only] = matching;
  const of = scope === undefined ? '' : ` for ${partName(scope)}`;
  return only !== undefined && matching.length === 1
    ? new Problem(
        `${shownName(only)}${of} is ${worst(only, scope)}, not ESCALATED: there is no escalation to end.`,
        `surety status ${typed(only)} shows every part of it.`,
      )
    : new Problem(
        `Of the ${counted(matching)} that match, none is ESCALATED${of}.`,
        '`surety status` shows what is in doubt.',
      );
}

function worst(subject: KnownSubject, scope: string | undefined): string {
  if (scope === undefined) return subject.status;
  return partsReached(subject, scope)[0]?.status ?? 'TRUSTED';
}
