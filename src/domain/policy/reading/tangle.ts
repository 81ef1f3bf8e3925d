const MOST_NESTING = 48;
const MOST_BACKTICKS = 256;
const MOST_HERE_DOCUMENTS = 256;

/** Whether reading this might take more than its length: a bound on the parser's work, not a reading of the text. */
export function isTangled(text: string): boolean {
  let depth = 0;
  let backticks = 0;
  let hereDocuments = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x28: // (
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        if (depth > MOST_NESTING) return true;
        break;
      case 0x29: // )
      case 0x5d: // ]
      case 0x7d: // }
        if (depth > 0) depth -= 1;
        break;
      case 0x60: // `
        backticks += 1;
        if (backticks > MOST_BACKTICKS) return true;
        break;
      case 0x3c: // <
        if (text.charCodeAt(at + 1) !== 0x3c) break;
        hereDocuments += 1;
        if (hereDocuments > MOST_HERE_DOCUMENTS) return true;
        break;
    }
  }
  return false;
}
