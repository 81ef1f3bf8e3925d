/**
 * The ledger was reached and said no to what it was given, and would say so again: SQLSTATE classes 22 (data), 23
 * (integrity) and 54 (limits) do not pass by waiting. Neither does a bug of ours that a value has brought to light. A
 * missing table or privilege (42) may: somebody is restoring the database.
 */
export function isRefusal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return error instanceof TypeError || (typeof code === 'string' && /^(22|23|54)[0-9A-Z]{3}$/.test(code));
}
