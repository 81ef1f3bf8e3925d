/** How far into a page its own word about its encoding counts, as browsers have it. */
const PRESCAN_BYTES = 1024;

/** Text of whatever encoding: a byte order mark is believed first, then the header, then the page itself. */
export function decodeText(bytes: Buffer, contentType: string): string {
  const label = fromMark(bytes) ?? fromHeader(contentType) ?? fromPage(bytes) ?? 'utf-8';
  return decoderFor(label).decode(bytes);
}

/** Whether bytes are no text in any encoding: text has no NUL, but for UTF-16, which says so at its beginning. */
export function looksBinary(bytes: Buffer, contentType: string): boolean {
  if (fromMark(bytes) !== undefined || /utf-?16|ucs-2/i.test(contentType)) return false;
  return bytes.subarray(0, 8192).includes(0);
}

/** The text that bytes are, to the byte; undefined where they are none, or hold a NUL. */
export function utf8Of(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function fromMark(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
}

function fromHeader(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(contentType)?.[1];
}

function fromPage(bytes: Buffer): string | undefined {
  const beginning = bytes.subarray(0, PRESCAN_BYTES).toString('latin1');
  const named =
    /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]{1,40})|<\?xml[^>]{0,100}encoding\s*=\s*["']([\w.:-]{1,40})/i;
  const found = named.exec(beginning);
  const label = found?.[1] ?? found?.[2];
  // Whoever can be read as ASCII so far is not UTF-16, whatever it says.
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

/** An encoding that nobody knows is read as UTF-8: what can be read of it is better than nothing. */
function decoderFor(label: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return new TextDecoder();
  }
}
