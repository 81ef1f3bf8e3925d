/**
 * SHA-256 (FIPS 180-4) without `node:crypto`: keys are also derived inside workflows, where Node's modules do not exist.
 * Used for the rare name that is too long, so speed does not matter.
 */
export function sha256Hex(text: string): string {
  const words = paddedWords(new TextEncoder().encode(text));
  const state = Uint32Array.from(INITIAL);
  for (let offset = 0; offset < words.length; offset += 16) compress(state, words.subarray(offset, offset + 16));
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('');
}

const PRIMES = firstPrimes(64);
/** The first 32 bits of the fractional parts of the primes' square roots and cube roots. */
const INITIAL = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const ROUND = PRIMES.map((prime) => fraction(Math.cbrt(prime)));

function fraction(root: number): number {
  return Math.floor((root % 1) * 2 ** 32);
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes;
}

/** The message, a one bit, zeros, and the length in bits, as big-endian words. */
function paddedWords(bytes: Uint8Array): Uint32Array {
  const padded = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / 64) * 64));
  bytes.forEach((byte, index) => padded.setUint8(index, byte));
  padded.setUint8(bytes.length, 0x80);
  padded.setBigUint64(padded.byteLength - 8, BigInt(bytes.length) * 8n);
  return Uint32Array.from({ length: padded.byteLength / 4 }, (_, index) => padded.getUint32(index * 4));
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function compress(state: Uint32Array, block: Uint32Array): void {
  const schedule = new Uint32Array(64);
  schedule.set(block);
  const scheduled = (index: number) => schedule[index] ?? 0;
  for (let i = 16; i < 64; i += 1) {
    const [early, late] = [scheduled(i - 15), scheduled(i - 2)];
    const mixedEarly = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const mixedLate = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    schedule[i] = scheduled(i - 16) + mixedEarly + scheduled(i - 7) + mixedLate;
  }
  let [a, b, c, d, e, f, g, h] = Array.from(state) as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i += 1) {
    const mixedE = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const first = (h + mixedE + ((e & f) ^ (~e & g)) + (ROUND[i] ?? 0) + scheduled(i)) | 0;
    const mixedA = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const second = (mixedA + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = (state[index] ?? 0) + word;
  });
}
