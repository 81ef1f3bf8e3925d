import { signal } from '@preact/signals';
import { serverNow } from './api.ts';

/** Moves every second, for whatever counts down. */
export const now = signal(Date.now());
setInterval(() => {
  now.value = serverNow();
}, 1000);

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** To two units at most: 2 d 3 h, 29 min, 45 s. Minutes come with seconds only in the last ten. */
export function span(ms: number): string {
  const left = Math.max(0, ms);
  const first = UNITS.findIndex(([, unit]) => left >= unit);
  if (first === -1) return '0 s';
  const [name, unit] = UNITS[first] ?? UNITS[3];
  const whole = Math.floor(left / unit);
  const next = UNITS[first + 1];
  const isFine = next !== undefined && (name !== 'min' || whole < 10);
  const rest = isFine ? Math.floor((left % unit) / next[1]) : 0;
  return rest === 0 || next === undefined ? `${whole} ${name}` : `${whole} ${name} ${rest} ${next[0]}`;
}

/** In the reader's own zone; the full time is in the title. */
export function clock(iso: string): string {
  const at = new Date(iso);
  const isToday = at.toDateString() === new Date(now.value).toDateString();
  const time = at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
  return isToday ? time : `${at.toLocaleDateString([], { month: 'short', day: 'numeric' })} ${time}`;
}

export function whenOf(ms: number): string {
  return clock(new Date(ms).toISOString());
}
