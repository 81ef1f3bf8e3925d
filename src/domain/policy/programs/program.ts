import type { Field } from '../../command/expand.ts';
import { doubt, type Consequence } from './consequence.ts';

/** How a program runs others, as far as its arguments tell. */
export type Program = (args: readonly Field[], program: string) => readonly Consequence[];

export const always: Program = (_, program) => doubt(`${program} runs what it is given, in its own way`);
