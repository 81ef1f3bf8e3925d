/** Stands for what only the running shell knows. It cannot occur in a command line: bash drops it. */
export const HOLE = '\0';
/** Stands for an integer that only the running shell knows: it names no program and hides no code. */
export const NUMBER = '\uffff';
/** Stands for what a glob will match: unknown, but for a name that is there. */
export const MATCH = `${HOLE}\ufdd0`;
/** Stands for what the command line itself brings forth when it runs: unknown, and by the hand of whoever wrote it. */
export const MADE = `${HOLE}\ufdd1`;
/** Stands for a place where an unquoted expansion breaks into fields. */
export const BREAK = '\ufffe';
export const RESERVED = new RegExp(`[${MATCH}${MADE}${BREAK}${NUMBER}]`);
