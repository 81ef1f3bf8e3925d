import { isSecretName, REDACTED, redactTokens } from '../outcome/secrets.ts';

/**
 * Arguments for whoever decides about them: nothing is cut, since what is not seen would be approved with the rest. Of
 * credentials only what can be nothing else is masked: what has the shape of a token, and one word under a secret's name.
 */
export function shownArguments(value: unknown): unknown {
  if (typeof value === 'string') return redactTokens(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(shownArguments);
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [
      redactTokens(name),
      isSecret(name, held) ? REDACTED : shownArguments(held),
    ]),
  );
}

function isSecret(name: string, value: unknown): boolean {
  return isSecretName(name) && typeof value === 'string' && /^[\w.~+/=:@%-]{1,512}$/.test(value);
}
