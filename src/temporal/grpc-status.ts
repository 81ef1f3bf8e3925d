import { codeOf } from '../problem.ts';

// https://grpc.io/docs/guides/status-codes/
export const INVALID_ARGUMENT = 3;
export const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;
const UNAUTHENTICATED = 16;

/** The server is there but does not do this for us, as Temporal Cloud with an operator's calls. */
export function isNotPermitted(error: unknown): boolean {
  return [PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED].includes(Number(codeOf(error)));
}
