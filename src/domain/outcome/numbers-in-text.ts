/** Numbers that only the message mentions. Weaker than the same number in a field: anyone can quote it. */

const STATUS_TEXT = [
  /\bstatus(?: ?code)?\s{0,3}[:=]?\s{0,3}([45]\d\d)\b/i,
  /\bHTTP(?:\/\d(?:\.\d)?)?(?: error| status)?\s{0,3}[:#]?\s{0,3}([45]\d\d)\b/i,
  /\b([45]\d\d) (?:forbidden|unauthorized|not found|gone|too many requests|internal server error|bad gateway|service unavailable|gateway time-?out|proxy authentication required)\b/i,
];

/** An HTTP status that only the message mentions: "403 Forbidden", "failed with status code 503". */
export function statusInText(text: string): number | undefined {
  for (const pattern of STATUS_TEXT) {
    const status = numberIn(pattern, text);
    if (status !== undefined) return status;
  }
  return undefined;
}

/** "exited with code 127", "returned non-zero exit status 1". */
export function exitInText(text: string): number | undefined {
  return numberIn(
    /\bexit(?:ed)?(?: with)?(?: non-?zero)?(?: exit)? (?:code|status)\s{0,3}[:=]?\s{0,3}(-?\d{1,10})\b/i,
    text,
  );
}

/** JSON-RPC's own codes, as MCP clients print them: "MCP error -32602: …". */
export function codeInText(text: string): number | undefined {
  return numberIn(/\b(?:mcp|json-?rpc) error:? (-32\d{3})\b/i, text);
}

function numberIn(pattern: RegExp, text: string): number | undefined {
  const digits = pattern.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
