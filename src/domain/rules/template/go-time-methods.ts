// What templates ask of a time (Go's time.Time, in UTC): its parts, and its text in a layout, which is Go's reference moment written as wished.
import { DAY_MS } from "../../../core/time/durations.ts";
import { GoTime, type GoValue } from "./go-value.ts";

const MONTHS = "January February March April May June July August September October November December".split(" ");
const WEEKDAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
/** Parts of a layout, the longer before those that they begin with. */
const LAYOUT_PARTS =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|0[1-6]|002|2006|__2|_2(?!006)|15|[1-5]|PM|pm|[Z-]07:00:00|[Z-]070000|[Z-]07:00|[Z-]0700|[Z-]07|[.,](?:0+|9+)(?!\d)/g;

/** A method of times: how many arguments it takes, and what it gives. */
interface TimeMethod {
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
  ["Month", { count: 0, call: monthName }],
  ["Weekday", { count: 0, call: weekdayName }],
  ["Format", { count: 1, call: (time, [layout]) => formatted(time, layout as string) }],
]);

/** A method with the value that it is of. */
export interface ValueMethod {
  readonly count: number;
  call(args: readonly string[]): GoValue;
}

/** The method of a value by its name, which times alone have; undefined where there is none. Month and Weekday give their names, as Go prints them. */
export function methodOf(value: GoValue, name: string): ValueMethod | undefined {
  const method = value instanceof GoTime ? METHODS.get(name) : undefined;
  return method && { count: method.count, call: (args) => method.call(new Date((value as GoTime).ms), args) };
}

function part(read: (time: Date) => number): TimeMethod {
  return { count: 0, call: (time) => BigInt(read(time)) };
}

function yearDay(time: Date): number {
  return Math.floor((time.getTime() - Date.UTC(time.getUTCFullYear(), 0, 1)) / DAY_MS) + 1;
}

/** What the parts of a layout stand for, but zones and fractions. */
const PART_TEXTS: ReadonlyMap<string, (time: Date) => string> = new Map<string, (time: Date) => string>([
  ["January", monthName],
  ["Jan", (time) => monthName(time).slice(0, 3)],
  ["1", (time) => String(time.getUTCMonth() + 1)],
  ["01", (time) => padded(time.getUTCMonth() + 1, 2)],
  ["Monday", weekdayName],
  ["Mon", (time) => weekdayName(time).slice(0, 3)],
  ["2", (time) => String(time.getUTCDate())],
  ["_2", (time) => String(time.getUTCDate()).padStart(2, " ")],
  ["02", (time) => padded(time.getUTCDate(), 2)],
  ["002", (time) => padded(yearDay(time), 3)],
  ["__2", (time) => String(yearDay(time)).padStart(3, " ")],
  ["2006", (time) => padded(time.getUTCFullYear(), 4)],
  ["06", (time) => padded(time.getUTCFullYear() % 100, 2)],
  ["15", (time) => padded(time.getUTCHours(), 2)],
  ["3", (time) => String(hourOfHalf(time))],
  ["03", (time) => padded(hourOfHalf(time), 2)],
  ["4", (time) => String(time.getUTCMinutes())],
  ["04", (time) => padded(time.getUTCMinutes(), 2)],
  ["5", (time) => String(time.getUTCSeconds())],
  ["05", (time) => padded(time.getUTCSeconds(), 2)],
  ["PM", (time) => (time.getUTCHours() < 12 ? "AM" : "PM")],
  ["pm", (time) => (time.getUTCHours() < 12 ? "am" : "pm")],
  ["MST", () => "UTC"],
]);

function formatted(time: Date, layout: string): string {
  return layout.replace(LAYOUT_PARTS, (text) => {
    const known = PART_TEXTS.get(text);
    if (known !== undefined) return known(time);
    if (text.startsWith("Z")) return "Z";
    return text.startsWith("-") ? text.replace("-", "+").replaceAll("7", "0") : fraction(time, text);
  });
}

function monthName(time: Date): string {
  return MONTHS[time.getUTCMonth()] as string;
}

function weekdayName(time: Date): string {
  return WEEKDAYS[time.getUTCDay()] as string;
}

/** The hour of a clock without noon: 12, 1, 2 up to 11, twice a day. */
function hourOfHalf(time: Date): number {
  return time.getUTCHours() % 12 || 12;
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
