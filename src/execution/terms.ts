import { stat } from 'node:fs/promises';
import type { Rules } from '../domain/rules/rules.schema.ts';
import { codeOf, Problem } from '../problem.ts';
import { findRulesFile, rulesFiles } from '../rules-file.ts';
import type { Executor } from './call.ts';
import type { FileSandbox } from './files/sandbox.ts';
import type { ExecutionRules } from './rules.ts';
import type { Confinement, Sandbox } from './sandbox.ts';

/** The rules and what follows from them. A call is judged and run by one of these as a whole. */
export interface Terms {
  readonly rules: ExecutionRules;
  readonly executor: Executor;
  readonly sandbox: Sandbox;
  readonly confinement: Confinement;
  /** What the paths that a command names are held to. */
  readonly commandFiles: FileSandbox;
}

export interface TermsInForce {
  readonly current: Terms;
  /** Looks whether the rules have changed. The same object as before where they have not. */
  renewed(): Promise<Terms>;
}

/**
 * Terms that follow surety.json: it is looked at before each call, so that a rule holds from the first call after it was
 * saved. What cannot be used, or is gone, is told once, and the old rules stay.
 */
export async function followRules(
  project: string,
  first: Rules,
  make: (rules: Rules) => Promise<Terms>,
  onRefused: (problem: Error) => void,
): Promise<TermsInForce> {
  let seen = await stampOf(project);
  let current = await make(first);
  let turn: Promise<unknown> = Promise.resolve();

  async function renew(): Promise<Terms> {
    const stamp = await stampOf(project);
    if (stamp === seen) return current;
    seen = stamp;
    try {
      const found = await findRulesFile(project);
      if (found === undefined) throw new Problem('surety.json is gone', 'The rules in force stay until it is back.');
      current = await make(found.rules);
    } catch (error) {
      if (!(error instanceof Error && (error instanceof Problem || codeOf(error) !== undefined))) throw error;
      onRefused(error);
    }
    return current;
  }

  return {
    get current() {
      return current;
    },
    renewed: () => {
      const mine = turn.then(renew);
      turn = mine.catch(() => undefined);
      return mine;
    },
  };
}

/** Differs after every change, also one that leaves size and time of the content as they were. */
async function stampOf(project: string): Promise<string> {
  const stamps = await Promise.all(
    rulesFiles(project).map((file) =>
      stat(file, { bigint: true }).then(
        ({ dev, ino, size, mtimeNs, ctimeNs }) => [dev, ino, size, mtimeNs, ctimeNs].join(':'),
        (error: unknown) => String(codeOf(error)),
      ),
    ),
  );
  return stamps.join(' ');
}
