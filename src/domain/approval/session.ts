import { sha256Hex } from '../key/sha256.ts';
import { redactTokens } from '../outcome/secrets.ts';

/**
 * A session as questions and grants know it, without a token that somebody has put into its name. Two sessions stay two, and the
 * same one the same: what was granted in one is not for another.
 */
export function sessionName(session: string): string {
  return redactTokens(session, (token) => `[redacted ${sha256Hex(token).slice(0, 16)}]`);
}
