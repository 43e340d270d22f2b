// What templates ask of a time (Go's time.Time, in UTC): its parts, and its text in a layout, which is Go's reference moment written as wished.
import { DAY_MS } from "../../../core/time/durations.ts";
import type { GoTime, GoValue } from "./go-value.ts";

const MONTHS = "January February March April May June July August September October November December".split(" ");
const WEEKDAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
/** Parts of a layout, the longer before those that they begin with. */
const LAYOUT_PARTS =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|0[1-6]|002|2006|__2|_2(?!006)|15|[1-5]|PM|pm|[Z-]07:00:00|[Z-]070000|[Z-]07:00|[Z-]0700|[Z-]07|[.,](?:0+|9+)(?!\d)/g;

/** A method that templates may call: how many arguments it takes, and what it gives. */
export interface TimeMethod {
  readonly count: number;
  call(time: Date, args: readonly string[]): GoValue;
}

const METHODS: ReadonlyMap<string, TimeMethod> = new Map<string, TimeMethod>([
  ["Year", part((time) => time.getUTCFullYear())],
  ["Day", part((time) => time.getUTCDate())],
  ["Hour", part((time) => time.getUTCHours())],
  ["Minute", part((time) => time.getUTCMinutes())],
  ["Second", part((time) => time.getUTCSeconds())],
  ["YearDay", part(yearDay)],
  ["Unix", part((time) => Math.floor(time.getTime() / 1_000))],
  ["UnixMilli", part((time) => time.getTime())],
  ["Month", { count: 0, call: (time) => MONTHS[time.getUTCMonth()] }],
  ["Weekday", { count: 0, call: (time) => WEEKDAYS[time.getUTCDay()] }],
  ["Format", { count: 1, call: (time, [layout]) => formatted(time, layout as string) }],
]);

/** The method of a time by its name; undefined where there is none. Month and Weekday give their names, as Go prints them. */
export function timeMethod(name: string): TimeMethod | undefined {
  return METHODS.get(name);
}

/** A time as methods take it. */
export function dateOf({ ms }: GoTime): Date {
  return new Date(ms);
}

function part(read: (time: Date) => number): TimeMethod {
  return { count: 0, call: (time) => BigInt(read(time)) };
}

function yearDay(time: Date): number {
  return Math.floor((time.getTime() - Date.UTC(time.getUTCFullYear(), 0, 1)) / DAY_MS) + 1;
}

function formatted(time: Date, layout: string): string {
  return layout.replace(LAYOUT_PARTS, (text) => partText(time, text));
}

function partText(time: Date, text: string): string {
  const known = new Map(Object.entries({ ...dayParts(time), ...hourParts(time), MST: "UTC" })).get(text);
  if (known !== undefined) return known;
  if (text.startsWith("Z")) return "Z";
  if (text.startsWith("-")) return text.replace("-", "+").replaceAll("7", "0");
  return fraction(time, text);
}

function dayParts(time: Date) {
  const [month, weekday] = [MONTHS[time.getUTCMonth()] as string, WEEKDAYS[time.getUTCDay()] as string];
  const [year, day] = [time.getUTCFullYear(), time.getUTCDate()];
  return {
    January: month,
    Jan: month.slice(0, 3),
    "1": String(time.getUTCMonth() + 1),
    "01": padded(time.getUTCMonth() + 1, 2),
    Monday: weekday,
    Mon: weekday.slice(0, 3),
    "2": String(day),
    _2: String(day).padStart(2, " "),
    "02": padded(day, 2),
    "002": padded(yearDay(time), 3),
    __2: String(yearDay(time)).padStart(3, " "),
    "2006": padded(year, 4),
    "06": padded(year % 100, 2),
  };
}

function hourParts(time: Date) {
  const hours = time.getUTCHours();
  const isAfternoon = hours >= 12;
  return {
    "15": padded(hours, 2),
    "3": String(hours % 12 || 12),
    "03": padded(hours % 12 || 12, 2),
    "4": String(time.getUTCMinutes()),
    "04": padded(time.getUTCMinutes(), 2),
    "5": String(time.getUTCSeconds()),
    "05": padded(time.getUTCSeconds(), 2),
    PM: isAfternoon ? "PM" : "AM",
    pm: isAfternoon ? "pm" : "am",
  };
}

/** Fractions of a second: zeros stay, nines leave out what ends in zeros. */
function fraction(time: Date, text: string): string {
  const digits = padded(time.getUTCMilliseconds(), 3)
    .padEnd(9, "0")
    .slice(0, text.length - 1)
    .padEnd(text.length - 1, "0");
  const shown = text[1] === "9" ? digits.replace(/0+$/, "") : digits;
  return shown === "" ? "" : `${text[0]}${shown}`;
}

function padded(value: number, width: number): string {
  return String(value).padStart(width, "0");
}
