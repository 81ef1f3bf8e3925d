const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The first number of a JSON text that would be read as another one: then two different calls would look the same. */
export function inexactNumber(json: string): string | undefined {
  for (let at = 0; at < json.length;) {
    if (json[at] === '"') {
      at = endOfString(json, at);
      continue;
    }
    NUMBER.lastIndex = at;
    const [token] = NUMBER.exec(json) ?? [];
    if (token !== undefined && !isExact(token)) return token;
    at += token?.length ?? 1;
  }
  return undefined;
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** What would be read is written out again: it is the same number, however it is spelt. */
function isExact(token: string): boolean {
  const read = Number(token);
  return Number.isFinite(read) && decimalOf(token) === decimalOf(String(read));
}

/** Digits without zeros around them, and where the point is. Zero has no sign: its text has none, either. */
function decimalOf(token: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  if (end === 0) return '0';
  return `${sign}${digits.slice(0, end)}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - end)}`;
}
