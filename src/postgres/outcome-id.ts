import { createHash, randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Randomness by the kilobyte: asking for it once per id costs more than making the id. */
function createRandom(): { nextUint32: () => number } {
  const pool = new Uint32Array(256);
  let used = pool.length;
  return {
    nextUint32: () => {
      if (used === pool.length) {
        randomFillSync(pool);
        used = 0;
      }
      const next = pool[used] ?? 0;
      used += 1;
      return next;
    },
  };
}

const generator = new V7Generator(createRandom());

const HEX = Buffer.from('0123456789abcdef');
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const text = Buffer.alloc(36, '-');

/** Written into one buffer: a text put together digit by digit is a tree, which whoever reads it first has to flatten. */
export function newOutcomeId(): string {
  const { bytes } = generator.generate();
  for (let i = 0; i < 16; i += 1) {
    const [place, byte] = [PLACES[i] ?? 0, bytes[i] ?? 0];
    text[place] = HEX[byte >> 4] ?? 0;
    text[place + 1] = HEX[byte & 15] ?? 0;
  }
  return text.toString('latin1');
}

/**
 * The ledger id of a call. A UUIDv7 is taken as it is. Any other id always maps to the same UUID, in a range of its own
 * and whatever the time is, so that sending it again next week still meets the original. It is the agent's own, where that
 * is known: two agents that count their calls from one do not speak of the same call.
 */
export function outcomeId(callId: string, server: string, tool: string, agent?: string): string {
  if (UUID_V7.test(callId)) return callId.toLowerCase();
  const hash = createHash('sha256')
    .update(JSON.stringify([server, tool, callId, ...(agent === undefined ? [] : [agent])]))
    .digest('hex');
  const variant = ((Number.parseInt(hash.charAt(15), 16) & 0x3) | 0x8).toString(16);
  return `00000000-0000-8${hash.slice(0, 3)}-${variant}${hash.slice(3, 6)}-${hash.slice(16, 28)}`;
}

/** The lowest UUIDv7 of a moment: where a partition begins. */
export function lowestIdAt(epochMs: number): string {
  const hex = Math.max(0, Math.floor(epochMs)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`;
}
