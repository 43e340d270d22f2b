// Times as people read them: 24 hours, in one zone everywhere, with its offset in sight.

const formats = new Map<string, Intl.DateTimeFormat>();

/** Names that a zone may be asked by. */
export const UTC = "UTC";

function formatOf(zone: string, style: "time" | "day" | "full" | "minute" | "offset"): Intl.DateTimeFormat {
  const key = `${zone} ${style}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  const day = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  const options: Intl.DateTimeFormatOptions =
    style === "time"
      ? { ...clock, second: "2-digit" }
      : style === "minute"
        ? clock
        : style === "day"
          ? { month: "short", day: "numeric" }
          : style === "offset"
            ? { timeZoneName: "shortOffset", hour: "2-digit" }
            : { ...day, ...clock, second: "2-digit" };
  const made = new Intl.DateTimeFormat(style === "full" ? "sv-SE" : "en-GB", { ...options, timeZone: zone });
  formats.set(key, made);
  return made;
}

/** Whether there is such a zone. */
export function isZone(zone: string): boolean {
  try {
    formatOf(zone, "time");
    return true;
  } catch {
    return false;
  }
}

/** 2026-01-31 14:03:22 */
export function fullTime(ms: number, zone: string): string {
  return formatOf(zone, "full").format(ms);
}

/** 14:03:22 */
export function clockTime(ms: number, zone: string): string {
  return formatOf(zone, "time").format(ms);
}

/** 14:03 */
export function minuteTime(ms: number, zone: string): string {
  return formatOf(zone, "minute").format(ms);
}

/** 31 Jan */
export function dayText(ms: number, zone: string): string {
  return formatOf(zone, "day").format(ms);
}

/** UTC, UTC+1, UTC-3:30: the offset at that moment, which summer time changes. */
export function offsetText(ms: number, zone: string): string {
  const name = formatOf(zone, "offset")
    .formatToParts(ms)
    .find(({ type }) => type === "timeZoneName")?.value;
  return (name ?? "").replace("GMT", "UTC");
}

/** The clock of today, else the day with it. */
export function shortTime(ms: number, nowMs: number, zone: string): string {
  const sameDay = fullTime(ms, zone).slice(0, 10) === fullTime(nowMs, zone).slice(0, 10);
  return sameDay ? clockTime(ms, zone) : `${dayText(ms, zone)} ${minuteTime(ms, zone)}`;
}

/** Age, in the largest unit that says enough: 12 s, 3 min, 2 h, 5 d. */
export function ageText(ms: number): string {
  return durationText(Math.max(0, ms));
}

/** A duration in one or two units. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 || hours >= 10 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d${hours % 24 === 0 || hours >= 240 ? "" : ` ${hours % 24} h`}`;
}
