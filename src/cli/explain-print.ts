import type { Cli } from './cli.ts';
import type { Explanation } from './explain.ts';
import { WAYS } from './check.ts';
import { pathOf, ruleInWords } from '../domain/rules/explain.ts';
import { endOf, stateCell } from './state.ts';
import { table } from './table.ts';
import { plain, wrap } from './text.ts';
import { shortClock } from './time.ts';

const INDENT = '  ';

export function printExplanation({ terminal }: Cli, explanation: Explanation): void {
  const now = Date.now();
  const say = (text: string) => {
    for (const line of wrap(plain(text), terminal.width - INDENT.length)) terminal.print(`${INDENT}${line}`);
  };
  const heading = (text: string) => terminal.print(terminal.paint('bold', plain(text)));
  const { subject, known, scope, decision, parts, causes, rule, rulesVersion } = explanation;
  heading(`${subject}${scope === null ? '' : `, ${scope}`}`);
  if (!known) say('No outcome of it has been reported yet.');

  if (decision !== null) {
    terminal.print();
    heading('What the gate answers');
    say(`${decision.decision}: ${decision.because}`);
    if (scope === null && parts.some((part) => part.scope !== null)) {
      say('This is about a call that names no host, program or directory; --args or --scope asks about one that does.');
    }
    if (decision.decision === 'ask') say(`To satisfy it: ${WAYS[decision.via]}`);
    if (decision.decision !== 'allow' && decision.retryAfter !== undefined) {
      say(`Asking again in ${decision.retryAfter} s may be answered otherwise.`);
    }
    if (decision.escalation !== undefined) say(decision.escalation.recoveryHint);
  }

  terminal.print();
  heading('State of everything that has a say');
  const rows = parts.map((part) => ({
    cells: [
      stateCell(part.state),
      part.scope === null && part.label === 'all calls' ? part.subject : `${part.subject}: ${part.label}`,
      part.since === null ? '' : shortClock(Date.parse(part.since)),
    ],
    ...(part.state === 'TRUSTED' ? {} : { note: `${part.reason ?? ''} · ${endOf(part, now)}` }),
  }));
  const columns = [{ title: 'STATE' }, { title: 'WHAT', atLeast: 20 }, { title: 'SINCE (UTC)' }];
  terminal.print(table(terminal, columns, rows, INDENT));

  for (const cause of causes) {
    terminal.print();
    heading(`What led to it: ${cause.subject}, ${cause.label}`);
    if (cause.order !== null) say(`A person ordered it: ${cause.order}`);
    else if (cause.failures.length === 0) say('Its rows are past retention.');
    else terminal.print(table(terminal, CAUSES, cause.failures.map(causeRow), INDENT));
  }

  terminal.print();
  heading(`Rule (version ${rulesVersion})`);
  const candidates = rule.candidates.map((candidate) => ({
    cells: [candidate.won ? '✓' : '·', pathOf(candidate), candidate.because],
  }));
  terminal.print(table(terminal, RULES, candidates, INDENT));
  for (const sentence of ruleInWords(rule.rule, explanation.kind)) say(sentence);
}

const CAUSES = [{ title: 'TIME (UTC)' }, { title: 'SEVERITY' }, { title: 'MESSAGE', atLeast: 20 }];
const RULES = [{ title: '' }, { title: '', atLeast: 16 }, { title: '', atLeast: 20 }];

function causeRow({ at, severity, message }: Explanation['causes'][number]['failures'][number]) {
  return { cells: [shortClock(Date.parse(at)), severity ?? 'unknown', message] };
}
