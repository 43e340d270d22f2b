// Offsets of time zones from UTC, by the rules that the runtime knows.
import { BoundedMap } from "../../core/collections/bounded-map.ts";

const NUMBER = /\d+/g;

/** Local time less UTC in an IANA zone, at an instant; 1 us. Throws RangeError for a zone that is unknown. */
export function offsetMs(timeZone: string, atMs: number): number {
  if (timeZone === "UTC") return 0;
  const [month, day, year, hour, minute, second] = formatOf(timeZone).format(atMs).match(NUMBER) as string[];
  const local = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
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
