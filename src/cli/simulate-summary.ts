import type { Cli } from './cli.ts';
import type { Account, Accounts } from './simulate-accounts.ts';
import { table } from './table.ts';
import { roughly } from './time.ts';

/** What would have become of each tool, and in brackets what did. */
export function printSummary({ terminal }: Cli, json: boolean, simulated: Accounts, real?: Accounts): void {
  const names = [...new Set([...simulated.keys(), ...(real?.keys() ?? [])])];
  if (json) {
    terminal.printJson(names.map((name) => ({ subject: name, ...bare(simulated.get(name)), ...reality(real, name) })));
    return;
  }
  if (names.length === 0) {
    terminal.print('There were no events.');
    return;
  }
  const doubt = (account: Account | undefined) => (account === undefined ? 0 : account.doubtedMs);
  const order = names.toSorted((a, b) => doubt(simulated.get(b)) - doubt(simulated.get(a)) || (a < b ? -1 : 1));
  const beside = (pick: (account: Account) => string, name: string) => {
    const would = simulated.get(name);
    const did = real?.get(name);
    const text = would === undefined ? '0' : pick(would);
    return real === undefined ? text : `${text} (${did === undefined ? '0' : pick(did)})`;
  };
  const rows = order.map((name) => {
    const { allow, ask, deny } = simulated.get(name)?.answers ?? { allow: 0, ask: 0, deny: 0 };
    return {
      cells: [
        name,
        beside(({ escalated }) => String(escalated), name),
        beside(({ blocked }) => String(blocked), name),
        beside(({ doubtedMs }) => (doubtedMs === 0 ? '0' : roughly(doubtedMs)), name),
        String(allow),
        String(ask),
        String(deny),
      ],
    };
  });
  const right = { align: 'right' as const };
  const columns = [
    { title: 'TOOL', atLeast: 16 },
    ...['ESCALATED', 'BLOCKED', 'IN DOUBT', 'ALLOW', 'ASK', 'DENY'].map((title) => ({ title, ...right })),
  ];
  terminal.print(table(terminal, columns, rows));
  terminal.print();
  terminal.print('ALLOW, ASK, DENY: what the gate would have answered before each call.');
  if (real !== undefined) terminal.print('In brackets: what really happened.');
}

function bare(account: Account | undefined) {
  const { escalated, blocked, doubtedMs, answers } = account ?? NOTHING;
  return { escalated, blocked, inDoubtSeconds: Math.round(doubtedMs / 1000), answers };
}

/** Answers are not recorded, so of what really happened there are none. */
function reality(real: Accounts | undefined, name: string) {
  if (real === undefined) return {};
  const { answers: _, ...happened } = bare(real.get(name));
  return { happened };
}

const NOTHING = { escalated: 0, blocked: 0, doubtedMs: 0, answers: { allow: 0, ask: 0, deny: 0 } };
