import { InvalidArgumentError } from 'commander';

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** 2026-05-10 14:32:05, in UTC like every time we show. */
export function clock(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

/** Without the year. */
export function shortClock(ms: number): string {
  return clock(ms).slice(5);
}

/** Of today only the time. */
export function todaysClock(ms: number): string {
  const isToday = clock(ms).slice(0, 10) === clock(Date.now()).slice(0, 10);
  return isToday ? clock(ms).slice(11) : shortClock(ms);
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** "in 29 min", "3 h ago". */
export function fromNow(ms: number, now: number): string {
  const away = roughly(Math.abs(ms - now));
  return ms >= now ? `in ${away}` : `${away} ago`;
}

/** To one unit: 45 s, 29 min, 5 h, 3 d. */
export function roughly(ms: number): string {
  if (ms < 90 * UNIT_MS.s) return `${Math.max(ms > 0 ? 1 : 0, Math.round(ms / UNIT_MS.s))} s`;
  if (ms < 90 * UNIT_MS.m) return `${Math.round(ms / UNIT_MS.m)} min`;
  if (ms < 36 * UNIT_MS.h) return `${Math.round(ms / UNIT_MS.h)} h`;
  return `${Math.round(ms / UNIT_MS.d)} d`;
}

/** Reads 90s, 15m, 1h30m, 7d into milliseconds. */
export function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(s|m|h|d|w)/g)];
  const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS], 0);
  const isWhole = parts.map(([part]) => part).join('') === text.replaceAll(' ', '');
  if (parts.length === 0 || !isWhole || ms <= 0 || ms > 10 * 365 * UNIT_MS.d) {
    throw new InvalidArgumentError(`Expected a duration like 90s, 15m, 1h30m or 7d, got ${JSON.stringify(text)}.`);
  }
  return Math.round(ms);
}

/** Reads a moment in the past: how long ago (7d), or an ISO date or time. */
export function parseSince(text: string): number {
  if (/^\d{4}-\d\d-\d\d/.test(text)) {
    const ms = Date.parse(text);
    if (Number.isFinite(ms)) return ms;
  } else if (/^[\d.]+[a-z]/.test(text)) return Date.now() - parseDuration(text);
  throw new InvalidArgumentError(
    `Expected how long ago (7d, 12h) or a time like 2026-05-10T14:00:00Z, got ${JSON.stringify(text)}.`,
  );
}
