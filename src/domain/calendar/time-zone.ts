// Offsets of time zones from UTC, by the rules that the runtime knows.
import { BoundedMap } from "../../core/collections/bounded-map.ts";

/** Local time less UTC in an IANA zone, at an instant; 2 us. Throws RangeError for a zone that is unknown. */
export function offsetMs(timeZone: string, atMs: number): number {
  const parts = formatOf(timeZone).formatToParts(atMs);
  const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value);
  const local = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return local - Math.floor(atMs / 1000) * 1000;
}

/** Whether the name is that of a time zone. */
export function isTimeZone(timeZone: string): boolean {
  try {
    formatOf(timeZone);
    return true;
  } catch {
    return false;
  }
}

/** Making a format takes 50 us, so those of the last zones are kept. */
const FORMATS_MAX = 64;
const formats = new BoundedMap<string, Intl.DateTimeFormat>(FORMATS_MAX);

function formatOf(timeZone: string): Intl.DateTimeFormat {
  return formats.obtain(timeZone, () => newFormat(timeZone));
}

function newFormat(timeZone: string): Intl.DateTimeFormat {
  const numeric = "numeric" as const;
  return new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
}
