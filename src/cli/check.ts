import type { Command } from 'commander';
import type { Decision } from '../domain/gate/decision.ts';
import { normaliseScope } from '../domain/key/scope.ts';
import { connect } from '../gate/index.ts';
import type { Call, Gate } from '../gate/index.ts';
import { pause } from '../pause.ts';
import { readArguments } from './arguments.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { isPerSession } from './per-session.ts';
import { plain, wrap } from './text.ts';
import { EXIT } from './usage.ts';

interface CheckOptions {
  readonly tool: string;
  readonly server?: string;
  readonly args?: string;
  readonly agent?: string;
  readonly scope?: string;
  readonly json?: boolean;
}

const EXIT_OF = { allow: EXIT.ok, deny: EXIT.denied, ask: EXIT.ask } as const;
/** A gate learns of tools that somebody asked about with its next poll. */
const NEXT_POLL_MS = 500;

export function registerCheck(program: Command): void {
  program
    .command('check')
    .description('may this call be made now?')
    .requiredOption('--tool <name>', 'the tool')
    .option('--server <name>', 'the server that offers it')
    .option('--args <json>', 'the arguments of the call: JSON, @file, or - for standard input')
    .option('--scope <scope>', 'host, program or directory, where the arguments do not say')
    .option('--agent <id>', 'who asks')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Exit codes: 0 allow, 3 deny, 4 ask.

Examples:
  surety check --tool http_request --args '{"url": "https://api.example.com/data"}'
  surety check --tool bash --args @call.json && ./make-the-call`,
    )
    .action(action(check));
}

async function check({ config, terminal }: Cli, options: CheckOptions): Promise<number> {
  const { tool, server, agent, scope } = options;
  const args = await readArguments(options.args);
  if (await isPerSession(config)) {
    terminal.complain('Trust is kept per session here: this answers as a process does that has just started.');
  }
  const gate = await connect();
  try {
    const normalised = normaliseScope(scope);
    const decision = await ask(gate, {
      tool,
      ...(server === undefined ? {} : { server }),
      ...(args === undefined ? {} : { args }),
      ...(agent === undefined ? {} : { agent }),
      ...(normalised === undefined ? {} : { scope: normalised }),
    });
    if (options.json === true) {
      terminal.printJson(decision);
    } else {
      for (const line of linesOf(decision)) terminal.print(wrap(plain(line), terminal.width).join('\n'));
    }
    return EXIT_OF[decision.decision];
  } finally {
    await gate.close();
  }
}

async function ask(gate: Gate, call: Call): Promise<Decision> {
  const first = gate.check(call);
  const mayNotKnowTheTool = first.decision !== 'allow' && first.escalation === undefined && gate.situation === 'fresh';
  if (!mayNotKnowTheTool) return first;
  await pause(NEXT_POLL_MS);
  return gate.check(call);
}

function linesOf(decision: Decision): string[] {
  const held = decision.decision === 'allow' ? decision.shadow : decision;
  return [
    `${decision.decision}: ${decision.because}`,
    ...(decision.decision === 'ask' ? [`To satisfy it: ${WAYS[decision.via]}`] : []),
    ...(held?.escalation === undefined ? [] : [held.escalation.recoveryHint]),
    ...(held?.retryAfter === undefined ? [] : [`Asking again in ${held.retryAfter} s may be answered otherwise.`]),
  ];
}

export const WAYS: Readonly<Record<'probe' | 'grant' | 'person', string>> = {
  probe: 'one call at a time may try under a lease; `guard` of the library takes it.',
  grant: 'a person has approved this call, once: `guard` uses that up.',
  person: 'a person has to approve the call: `guard` asks and waits; see `surety approvals`.',
};
