import { RESERVED } from '../command/expand.ts';

/** A name as people read it: `…` where a part of it is only known when it runs. */
export function shown(program: string): string {
  return RESERVED.test(program) ? program.replace(/[\0\ufffe\uffff][\ufdd0\ufdd1]?/g, '…') : program;
}
