import type { Config } from '../config.ts';
import { findRules } from '../rules-file.ts';

/** Whether a process here keeps trust to itself, so that this one knows nothing and leaves nothing behind. */
export async function isPerSession({ persist }: Config): Promise<boolean> {
  if (persist !== undefined) return !persist;
  return !(await findRules()).persistAcrossSessions;
}
