import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { AuditSection } from '../../src/domain/audit/audit.schema.ts';
import type { AuditEntry } from '../../src/domain/audit/entry.schema.ts';
import { openAudit } from '../../src/execution/audit/audit.ts';

export function auditDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'surety-audit-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function openHere(directory: string, section: object = {}) {
  return openAudit(directory, AuditSection.parse({ fsync: 'never', ...section }));
}

export function success(parts: Partial<Extract<AuditEntry, { result: 'success' }>> = {}): AuditEntry {
  return {
    ts: new Date().toISOString(),
    tool: 'shell',
    duration_ms: 1,
    truncated: false,
    exit_code: 0,
    result: 'success',
    ...parts,
  };
}

/** Writes so many lines and closes. */
export async function fill(directory: string, count: number, section: object = {}): Promise<void> {
  const audit = openHere(directory, section);
  for (let index = 0; index < count; index += 1) await audit.append(success({ command: `echo ${index}` }));
  await audit.close();
}

/** As if nobody had ever given a lane back: where their chains end is known from the files alone. */
export function forgetEnds(directory: string): void {
  for (const name of readdirSync(directory)) if (name.includes('.claim-')) rmSync(join(directory, name));
}

export function linesOf(directory: string, file = '0-000001.jsonl'): string[] {
  return readFileSync(join(directory, file), 'utf8').split('\n').slice(0, -1);
}

export function putLines(directory: string, lines: readonly string[], file = '0-000001.jsonl'): void {
  writeFileSync(join(directory, file), lines.map((line) => `${line}\n`).join(''));
}
