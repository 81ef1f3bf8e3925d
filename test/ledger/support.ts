import { appendOutcomes } from '../../src/postgres/append.ts';
import type { Ledger } from '../../src/postgres/append.ts';
import type { LedgerOutcome } from '../../src/domain/outcome/ledger-outcome.ts';
import { parseRules } from '../../src/domain/rules/parse-rules.ts';
import { Names, Subjects } from '../../src/postgres/intern.ts';
import { newOutcomeId } from '../../src/postgres/outcome-id.ts';
import type { Installation } from '../support/installation.ts';

export function ledgerOf({ pool }: Installation): Ledger {
  return { pool, names: new Names(pool), subjects: new Subjects(pool) };
}

export function outcome(parts: Partial<LedgerOutcome> = {}): LedgerOutcome {
  return { kind: 'success', server: 'local', name: 't', at: Date.now(), callId: newOutcomeId(), ...parts };
}

export function failure(parts: Partial<LedgerOutcome> = {}): LedgerOutcome {
  return outcome({ kind: 'failure', severity: 'server_error', category: 'quality', evidence: 'text', ...parts });
}

export function append(ledger: Ledger, outcomes: readonly LedgerOutcome[], rules: unknown = {}) {
  return appendOutcomes(ledger, outcomes, { rules: parseRules(rules), version: 1 });
}
