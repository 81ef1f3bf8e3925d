import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common';

// Imported by workflows too, so nothing of Node's may be used here.

/** What an operator filters and sorts workflows by in Temporal UI. */
export const SuretyTool = defineSearchAttributeKey('SuretyTool', SearchAttributeType.KEYWORD);
export const SuretyServer = defineSearchAttributeKey('SuretyServer', SearchAttributeType.KEYWORD);
export const SuretyState = defineSearchAttributeKey('SuretyState', SearchAttributeType.KEYWORD);
export const SuretyReason = defineSearchAttributeKey('SuretyReason', SearchAttributeType.KEYWORD);
export const SuretyDueAt = defineSearchAttributeKey('SuretyDueAt', SearchAttributeType.DATETIME);

export const SEARCH_ATTRIBUTES = [SuretyTool, SuretyServer, SuretyState, SuretyReason, SuretyDueAt] as const;

const KEYWORD_LIMIT_BYTES = 255;

/**
 * Cuts a text to what a keyword may hold, in bytes of UTF-8 and never inside a character. A longer one is refused by
 * servers on SQL, and refused at each retry of the workflow task: the workflow would stand still.
 */
export function keyword(text: string): string {
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += utf8Length(character.codePointAt(0) ?? 0);
    if (bytes > KEYWORD_LIMIT_BYTES) return kept;
    kept += character;
  }
  return kept;
}

function utf8Length(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
