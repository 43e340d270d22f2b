// Durations such as 1h30m as Prometheus reads and prints them (common/model/time.go).
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, WEEK_MS } from "../../../core/time/durations.ts";
import { quote } from "./quoted-text.ts";

const UNITS_MS: ReadonlyArray<readonly [unit: string, ms: number]> = [
  ["y", 365 * DAY_MS],
  ["w", WEEK_MS],
  ["d", DAY_MS],
  ["h", HOUR_MS],
  ["m", MINUTE_MS],
  ["s", SECOND_MS],
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
