// Maintenance windows that come again: on given days of the week, from one time of day to another, in a time zone. Both are times of the clock on the
// wall, in every night: a window is open while that clock shows a time in it. Where clocks go forward it is as much shorter, where they go back it is as
// much longer, and an hour that comes twice counts both times.
import { DAY_MS, MINUTE_MS } from "../../core/time/durations.ts";
import { isTimeZone, offsetMs } from "../calendar/time-zone.ts";

export const DAY_MINUTES = 1440;
const DURATION_MINUTES_MAX = 7 * DAY_MINUTES;
/** A day of each weekday begins within them. */
const DAYS_AHEAD = 9;

export interface RecurringWindow {
  /** IANA name, such as Europe/Berlin. */
  readonly timeZone: string;
  /** 0 Sunday to 6 Saturday, on which it begins; empty for every day. */
  readonly weekdays: readonly number[];
  /** Minutes after local midnight, 0..1439. */
  readonly startMinute: number;
  /** 1..10,080, by the clock on the wall. */
  readonly durationMinutes: number;
  /** It begins no earlier and no later than these; null for no such bound. */
  readonly fromMs: number | null;
  readonly untilMs: number | null;
}

/** Error of a window, in a sentence; null where there is none. */
export function windowProblem(window: RecurringWindow): string | null {
  const { timeZone, weekdays, startMinute, durationMinutes } = window;
  if (!isTimeZone(timeZone)) return `time zone "${timeZone.slice(0, 80)}" is unknown; give an IANA name such as Europe/Berlin`;
  if (weekdays.some((day) => !Number.isInteger(day) || day < 0 || day > 6))
    return "weekdays are whole numbers from 0 (Sunday) to 6 (Saturday)";
  if (!Number.isInteger(startMinute) || startMinute < 0 || startMinute >= DAY_MINUTES)
    return `the start must be a minute of the day, 0 to 1439; got ${startMinute}`;
  if (!Number.isInteger(durationMinutes) || durationMinutes < 1 || durationMinutes > DURATION_MINUTES_MAX) {
    return `the duration must be 1 to ${DURATION_MINUTES_MAX} minutes, got ${durationMinutes}`;
  }
  return null;
}

/** Time without a break in which a window is open; start included, end not. */
interface Occurrence {
  readonly startMs: number;
  readonly endMs: number;
}

/** The occurrence that holds now, or null. Of overlapping ones the latest. */
export function occurrenceAt(window: RecurringWindow, nowMs: number): Occurrence | null {
  return occurrences(window, nowMs, 0).find(({ startMs, endMs }) => nowMs >= startMs && nowMs < endMs) ?? null;
}

/** A window that is asked again and again: what was found counts until the window opens or closes next. */
export class WindowWatch {
  readonly #window: RecurringWindow;
  #isOpen = false;
  #fromMs = Number.POSITIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;
  /** Times that the calendar was asked. */
  inspected = 0;

  constructor(window: RecurringWindow) {
    this.#window = window;
  }

  isOpen(nowMs: number): boolean {
    if (nowMs < this.#fromMs || nowMs >= this.#untilMs) this.#inspect(nowMs);
    return this.#isOpen;
  }

  #inspect(nowMs: number): void {
    this.inspected++;
    const near = occurrences(this.#window, nowMs, DAYS_AHEAD);
    const open = near.find(({ startMs, endMs }) => nowMs >= startMs && nowMs < endMs);
    this.#isOpen = open !== undefined;
    this.#fromMs = open?.startMs ?? nowMs;
    const starts = near.flatMap(({ startMs }) => (startMs > nowMs ? [startMs] : []));
    this.#untilMs = open?.endMs ?? Math.min(nowMs + (DAYS_AHEAD - 2) * DAY_MS, ...starts);
  }
}

/** Those of the days around now, the latest first. */
function occurrences(window: RecurringWindow, nowMs: number, daysAhead: number): Occurrence[] {
  const { timeZone, weekdays, startMinute, durationMinutes, fromMs, untilMs } = window;
  const daysBack = Math.ceil(durationMinutes / DAY_MINUTES) + 1;
  const first = offsetMs(timeZone, nowMs - (daysBack + 2) * DAY_MS);
  // The clocks of a zone do not change twice within three weeks: with the same offset at both ends, every day has it.
  const isSteady = first === offsetMs(timeZone, nowMs + (daysAhead + 2) * DAY_MS);
  const today = Math.floor((nowMs + (isSteady ? first : offsetMs(timeZone, nowMs))) / DAY_MS);
  const found: Occurrence[] = [];
  for (let day = today + daysAhead; day >= today - daysBack; day--) {
    // Day 0, the first of January 1970, was a Thursday.
    if (weekdays.length > 0 && !weekdays.includes((((day + 4) % 7) + 7) % 7)) continue;
    const localMs = day * DAY_MS + startMinute * MINUTE_MS;
    const localEndMs = localMs + durationMinutes * MINUTE_MS;
    const spans = isSteady ? [{ startMs: localMs - first, endMs: localEndMs - first }] : wallSpans(timeZone, localMs, localEndMs);
    const startMs = spans[0]?.startMs ?? Number.NaN;
    if (startMs >= (fromMs ?? startMs) && startMs <= (untilMs ?? startMs)) found.push(...spans.reverse());
  }
  return found;
}

/**
 * When the clocks of the zone show a time from `localMs` until before `localEndMs` (local times written as if they were UTC), earliest first: once, twice where
 * they go back behind its start before its end, or never where they jump over it.
 */
function wallSpans(timeZone: string, localMs: number, localEndMs: number): Occurrence[] {
  // Offsets before and after any change that lies near.
  const before = offsetMs(timeZone, localMs - DAY_MS);
  const after = offsetMs(timeZone, localEndMs + DAY_MS);
  if (before === after) return [{ startMs: localMs - before, endMs: localEndMs - before }];
  const changeMs = changeBetween(timeZone, localMs - DAY_MS, localEndMs + DAY_MS);
  const early = { startMs: localMs - before, endMs: Math.min(localEndMs - before, changeMs) };
  const late = { startMs: Math.max(localMs - after, changeMs), endMs: localEndMs - after };
  if (early.endMs >= late.startMs && early.endMs > early.startMs && late.endMs > late.startMs)
    return [{ startMs: early.startMs, endMs: Math.max(early.endMs, late.endMs) }];
  return [early, late].filter(({ startMs, endMs }) => endMs > startMs);
}

/** The instant at which the offset changes, by halving; offsets differ at the ends. */
function changeBetween(timeZone: string, fromMs: number, toMs: number): number {
  const first = offsetMs(timeZone, fromMs);
  let low = fromMs;
  let high = toMs;
  while (high - low > 1000) {
    const middle = low + Math.floor((high - low) / 2000) * 1000;
    if (offsetMs(timeZone, middle) === first) low = middle;
    else high = middle;
  }
  return high;
}
