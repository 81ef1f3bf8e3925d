import { parse, type Script } from 'unbash';
import { RESERVED } from '../../command/expand.ts';
import type { Reading } from './reading.ts';
import { isTangled } from './tangle.ts';
import { ScriptVariables } from './variables.ts';
import { Reader } from './reader.ts';

/** Beyond this nobody reads a command line, and reading stops being cheap. */
export const MOST_CHARACTERS = 32_768;
const MOST_PASSES = 4;

/** Reads a command line as bash would, and answers whatever the text is; what it cannot read is a doubt. */
export function readCommand(text: string): Reading {
  if (text.length > MOST_CHARACTERS) return unread(text, `longer than ${MOST_CHARACTERS} characters`);
  if (RESERVED.test(text)) return unread(text, 'it has control characters in it');
  if (isTangled(text)) return unread(text, 'it is nested too deeply to be read');
  try {
    return readParsed(text, parse(text));
  } catch (error) {
    // A script can be too deep for the stack of whoever reads it.
    if (error instanceof RangeError) return unread(text, 'it is nested too deeply to be read');
    throw error;
  }
}

function readParsed(text: string, script: Script): Reading {
  const variables = new ScriptVariables();
  // Without any of these nothing is replaced by what a variable holds, nor is a function defined.
  if (/[$`([]|\b(?:function|let|for|select)\b/.test(text)) variables.collect(script, variables);
  return readPass(text, script, variables);
}

function readPass(text: string, script: Script, variables: ScriptVariables): Reading {
  variables.beginPass();
  const reader = new Reader(text, variables);
  reader.readOutermost(script);
  const { changed, isFlooding } = whatWasLearnt(variables);
  if (isFlooding)
    return { ...readInPart(text, 'its variables make more of it than anybody could read', reader), isFlooded: true };
  if (!changed) return reader.notes;
  variables.pass += 1;
  // What the script sets on its way was not known to what was read before: read again.
  if (variables.pass < MOST_PASSES) return readPass(text, script, variables);
  return readInPart(text, 'what its variables hold depends on itself', reader);
}

/** The reader changes it behind the compiler's back. */
function whatWasLearnt({ changed, isFlooding }: ScriptVariables): Pick<ScriptVariables, 'changed' | 'isFlooding'> {
  return { changed, isFlooding };
}

function readInPart(text: string, why: string, { notes }: Reader): Reading {
  const { runs, paths, forkBombs, connections, hidden, isFlooded, isMisread, isBroken } = notes;
  return { ...unread(text, why), runs, paths, forkBombs, connections, hidden, isFlooded, isMisread, isBroken };
}

function unread(text: string, why: string): Reading {
  const doubts = [{ because: `the command cannot be judged: ${why}`, start: 0, end: text.length }];
  const nothing = { runs: [], constructs: [], paths: [], guesses: [], directories: [], forkBombs: [], connections: [] };
  return { ...nothing, hidden: [], doubts, isFlooded: false, isMisread: false, isBroken: false };
}
