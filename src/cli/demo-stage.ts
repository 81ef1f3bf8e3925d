import type pg from 'pg';
import { serverKey, toolKey } from '../domain/key/tool-key.ts';
import { LOCAL } from '../domain/trust/entry.ts';
import { WHOLE } from '../domain/trust/parts.ts';
import type { Status } from '../domain/trust/trust.ts';
import type { Gate, Report } from '../gate/index.ts';
import { pause } from '../pause.ts';
import { readSubjects } from '../postgres/read-subjects.ts';
import type { StackFile } from '../stack/stack-file.ts';
import type { Cli } from './cli.ts';
import { giveOrder, untilApplied } from './order.ts';
import { wrap } from './text.ts';

const DEMO_SERVERS = ['demo', 'demo-atlassian', 'demo-github'] as const;
const SEEN_WITHIN_MS = 15_000;

/** What a story is played on: it tells, reports, waits for what workflows make of it, and links to them. */
export function createStage({ terminal }: Cli, pool: pg.Pool, gate: Gate, stack: StackFile | undefined) {
  const say = (text: string, indent = '  ') => {
    for (const line of wrap(text, terminal.width - indent.length)) terminal.print(`${indent}${line}`);
  };
  const link = (key: string) => {
    if (stack?.uiUrl === undefined) return;
    const { uiUrl, namespace } = stack;
    terminal.print(terminal.paint('dim', `  ${uiUrl}/namespaces/${namespace}/workflows/${encodeURIComponent(key)}`));
  };

  async function statusOf(key: string, part: string): Promise<Status> {
    const [subject] = await readSubjects(pool, { keys: [key] });
    return subject?.parts[part]?.status ?? 'TRUSTED';
  }

  /** Waits until the ledger's rows of a subject are applied, and then for the state to be as foretold, for a moment. */
  async function comesToBe(key: string, part: string, expected: Status): Promise<Status> {
    for (const deadline = Date.now() + SEEN_WITHIN_MS; Date.now() < deadline; await pause(50)) {
      if ((await statusOf(key, part)) === expected) return expected;
      const [subject] = await readSubjects(pool, { keys: [key] });
      // All applied and still otherwise: the rules in force are not the ones the story was written for.
      if (subject !== undefined && subject.unapplied === 0 && subject.failures > 0 && expected !== 'TRUSTED') break;
    }
    return statusOf(key, part);
  }

  return {
    gate,
    say,
    title: (text: string) => {
      terminal.print();
      terminal.print(terminal.paint('bold', text));
    },
    result: (text: string) => say(terminal.paint('cyan', `⇒ ${text}`)),
    link,
    statusOf,
    comesToBe,
    report: (report: Report) => gate.report(report),
    async order(order: 'reset' | 'recover', key: string, reason: string): Promise<void> {
      const subjects = await readSubjects(pool, { keys: [key] });
      await untilApplied(pool, await giveOrder(pool, { order, subjects, by: 'demo', reason }));
    },
    /** Leaves every demo tool trusted, whatever a story or an interrupted one before has done to it. */
    async clear(): Promise<void> {
      const found = await Promise.all(
        DEMO_SERVERS.flatMap((server) => [
          readSubjects(pool, { pattern: `${server}/*` }),
          readSubjects(pool, { keys: [serverKey(server)] }),
        ]),
      );
      const subjects = found.flat().filter(({ server }) => server !== LOCAL);
      if (subjects.length === 0) return;
      await untilApplied(pool, await giveOrder(pool, { order: 'reset', subjects, by: 'demo', reason: 'demo' }));
    },
    keyOf: (server: string, name?: string) => (name === undefined ? serverKey(server) : toolKey(server, name)),
    WHOLE,
  };
}

export type Stage = ReturnType<typeof createStage>;
