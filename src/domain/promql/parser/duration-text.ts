// Durations such as 1h30m as Prometheus reads and prints them (common/model/time.go).
import { quote } from "./quoted-text.ts";

const UNITS_MS: ReadonlyArray<readonly [unit: string, ms: number]> = [
  ["y", 31_536_000_000],
  ["w", 604_800_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
];
const DURATION = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;
/** A signed 64 bit count of nanoseconds: 292 years. */
const DURATION_MS_MAX = 9_223_372_036_854;

/** Milliseconds of a duration, or what is wrong with it. */
export function parseDurationMs(text: string): number | string {
  const found = DURATION.exec(text);
  if (text === "" || found === null) return text === "" ? "empty duration string" : `not a valid duration string: ${quote(text)}`;
  const ms = UNITS_MS.reduce((sum, [, unitMs], index) => sum + Number(found[index + 1] ?? 0) * unitMs, 0);
  return ms > DURATION_MS_MAX ? "duration out of range" : ms;
}

/** The canonical text of a duration; years and weeks only where they are all of it. */
export function formatDuration(ms: number): string {
  if (ms === 0) return "0s";
  let text = "";
  let left = Math.trunc(ms);
  for (const [unit, unitMs] of UNITS_MS) {
    const isExact = unit === "y" || unit === "w";
    const count = Math.floor(left / unitMs);
    if (count === 0 || (isExact && left % unitMs !== 0)) continue;
    text += `${count}${unit}`;
    left -= count * unitMs;
  }
  return text;
}
