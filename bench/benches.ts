import { approval } from './approval.ts';
import { audit } from './audit.ts';
import { check } from './check.ts';
import { cold } from './cold.ts';
import { growth } from './growth.ts';
import { guard } from './guard.ts';
import type { Row } from './measure.ts';
import { policy } from './policy.ts';
import { propagation } from './propagation.ts';
import { report } from './report.ts';
import { scale } from './scale.ts';
import type { BenchStack } from './stack.ts';
import { start } from './start.ts';

export type Bench =
  | { readonly needsStack: false; readonly run: () => Promise<readonly Row[]> }
  | {
      readonly needsStack: true;
      /** `moved` is told when the stack was started again. */
      readonly run: (stack: BenchStack, moved: (stack: BenchStack) => void) => Promise<readonly Row[]>;
    };

/** One file per budget. */
export const BENCHES: Readonly<Record<string, Bench>> = {
  check: { needsStack: false, run: check },
  guard: { needsStack: false, run: guard },
  audit: { needsStack: false, run: audit },
  policy: { needsStack: false, run: policy },
  report: { needsStack: true, run: report },
  growth: { needsStack: true, run: growth },
  propagation: { needsStack: true, run: propagation },
  approval: { needsStack: true, run: approval },
  cold: { needsStack: true, run: cold },
  scale: { needsStack: true, run: scale },
  start: { needsStack: true, run: start },
};
