/**
 * The ledger was reached and said no, and would say so again: SQLSTATE classes 22 (data), 23 (integrity), 42 (statement)
 * and 54 (limits) do not pass by waiting. Neither does a bug of ours that a value has brought to light.
 */
export function isRefusal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return error instanceof TypeError || (typeof code === 'string' && /^(22|23|42|54)[0-9A-Z]{3}$/.test(code));
}
