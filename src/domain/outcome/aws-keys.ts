import { REDACTED } from './secrets.ts';

const KEY_ID = /A(?:KI|SI)A(?<![A-Za-z0-9]....)[A-Z0-9]{16}(?![A-Za-z0-9])/;
/** Forty characters and nothing to know them by but the id that is always beside them. */
const SECRET_KEY = /(?<![A-Za-z0-9+/])(?=[^A-Z]{0,39}[A-Z])(?=[^a-z]{0,39}[a-z])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])/g;

/** The secret keys of AWS in a text that also holds the id of one. */
export function awsKeys(text: string): readonly string[] {
  return KEY_ID.test(text) ? (text.match(SECRET_KEY) ?? []) : [];
}

export function removeAwsKeys(text: string): string {
  return KEY_ID.test(text) ? text.replace(SECRET_KEY, REDACTED) : text;
}
