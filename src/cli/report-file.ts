import type { Gate, Report } from '../gate/index.ts';
import { reasonOf } from '../problem.ts';
import type { Cli } from './cli.ts';
import { linesOf } from './lines.ts';
import { plain } from './text.ts';
import { EXIT } from './usage.ts';

const MOST_ON_THEIR_WAY = 2000;

interface Refusal {
  readonly line: number;
  readonly reason: string;
}

/** One report per line. What is refused is named by its line; the others are recorded all the same. */
export async function reportFile({ terminal }: Cli, gate: Gate, file: string, json: boolean): Promise<number> {
  const refused: Refusal[] = [];
  let recorded = 0;
  const underWay = new Set<Promise<void>>();
  for await (const { number, text } of linesOf(file)) {
    const sent = send(gate, text).then(
      () => {
        recorded += 1;
      },
      (error: unknown) => {
        const refusal = { line: number, reason: reasonOf(error).replace('the report was not recorded: ', '') };
        refused.push(refusal);
        if (!json) terminal.complain(`${file === '-' ? 'line ' : `${file}:`}${number}: ${plain(refusal.reason)}`);
      },
    );
    underWay.add(sent);
    void sent.finally(() => underWay.delete(sent));
    if (underWay.size >= MOST_ON_THEIR_WAY) await Promise.race(underWay);
  }
  await Promise.all(underWay);
  if (json) terminal.printJson({ recorded, refused });
  else terminal.print(`Recorded ${recorded}, refused ${refused.length}.`);
  return refused.length === 0 ? EXIT.ok : EXIT.error;
}

async function send(gate: Gate, text: string): Promise<void> {
  // The gate itself finds out whether this is a report.
  await gate.report(JSON.parse(text) as Report);
}
