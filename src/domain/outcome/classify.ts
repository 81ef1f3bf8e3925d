import { commandIn, runsCommands } from '../command/argument.ts';
import { isDangerous } from '../command/danger.ts';
import { commandsOf } from '../command/parse.ts';
import { meaningOfExit, meaningOfHttp, meaningOfName, type Meaning } from './codes.ts';
import { codeInText, exitInText, statusInText } from './numbers-in-text.ts';
import type { Evidence, Failure, Severity } from './outcome.ts';
import { isRefusal, meaningOfText } from './patterns.ts';

interface Facts {
  readonly tool: string;
  readonly args: unknown;
  /** The reporter's own judgement. */
  readonly severity: Severity | undefined;
  /** Names and codes the error gives itself. */
  readonly names: readonly string[];
  readonly message: string;
  readonly httpStatus: number | undefined;
  readonly exitCode: number | undefined;
}

type Classification = Pick<Failure, 'severity' | 'category' | 'evidence'>;

/**
 * Severity, category and evidence of a failure, from the surest sign to the weakest: the reporter's word, the command
 * that ran, numbers and names, and last the message. A failure that says nothing about itself is the server's.
 */
export function classify(facts: Facts): Classification {
  const told = byFacts(facts);
  if (facts.severity !== undefined) {
    return { severity: facts.severity, category: categoryFor(facts.severity, told), evidence: 'structured' };
  }
  const danger = dangerEvidence(facts);
  return danger === undefined ? told : { severity: 'security', category: 'quality', evidence: danger };
}

function byFacts({ tool, args, names, message, httpStatus, exitCode }: Facts): Classification {
  const structured =
    (httpStatus === undefined ? undefined : meaningOfHttp(httpStatus)) ??
    (exitCode === undefined ? undefined : (meaningOfExit(exitCode) ?? informational(exitCode, message, tool, args))) ??
    firstMeaning(names);
  if (structured !== undefined) return { ...ofProgram(structured, exitCode), evidence: 'structured' };
  return { ...ofProgram(byText(message) ?? UNEXPLAINED, exitCode), evidence: 'text' };
}

/**
 * With an exit code there was a program, and what it met is not what the tool met: `pip install malware-scan` may fail
 * without any attack, and a shell whose `curl` cannot resolve a host is plainly there.
 */
function ofProgram(meaning: Meaning, exitCode: number | undefined): Meaning {
  if (exitCode === undefined) return meaning;
  if (meaning.severity === 'security') return UNEXPLAINED;
  return meaning.category === 'reachability' ? { ...meaning, category: 'quality' } : meaning;
}

const UNEXPLAINED: Meaning = { severity: 'server_error', category: 'quality' };

function byText(message: string): Meaning | undefined {
  const status = statusInText(message);
  if (status === 504) return { severity: 'timeout', category: 'reachability' };
  const exit = exitInText(message);
  const code = codeInText(message);
  return (
    (status === undefined ? undefined : meaningOfHttp(status)) ??
    (exit === undefined ? undefined : meaningOfExit(exit)) ??
    (code === undefined ? undefined : meaningOfName(String(code))) ??
    meaningOfText(message)
  );
}

function firstMeaning(names: readonly string[]): Meaning | undefined {
  for (const name of names) {
    const meaning = meaningOfName(name);
    if (meaning !== undefined) return meaning;
  }
  return undefined;
}

/** A severity that was given keeps what the facts say about whom it concerns. */
function categoryFor(severity: Severity, told: Classification): Classification['category'] {
  if (severity === 'timeout') return 'reachability';
  return severity === 'repeated_auth' ? 'auth' : told.category;
}

/** Programs whose exit code 1 is an answer: no line matched, the files differ, there is no such program. */
const ANSWERS: ReadonlySet<string> = new Set(
  'grep egrep fgrep zgrep rg ag ack diff cmp test [ which pgrep command type expr'.split(' '),
);

function informational(exitCode: number, message: string, tool: string, args: unknown): Meaning | undefined {
  if (exitCode !== 1 || message !== '') return undefined;
  const last = commandsOf(commandIn(tool, args)).commands.at(-1);
  return last !== undefined && ANSWERS.has(last.program) ? { severity: 'not_found', category: 'quality' } : undefined;
}

/**
 * Whether the command that ran is itself the security failure. A command that was refused before it ran is not; of a tool
 * whose name does not say that it runs commands, nobody knows whether it did, so that evidence only escalates.
 */
function dangerEvidence({ tool, args, message, httpStatus }: Facts): Evidence | undefined {
  const command = commandIn(tool, args);
  if (command === undefined || !isDangerous(command)) return undefined;
  const isClientError = httpStatus !== undefined && httpStatus >= 400 && httpStatus < 500;
  if (isClientError || isRefusal(message)) return undefined;
  return runsCommands(tool) ? 'structured' : 'text';
}
