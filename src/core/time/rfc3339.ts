// RFC 3339 date-times, strictly: Date.parse also takes "2026", "Nov 21 2026" and 30 February.
import { DAY_MS } from "./durations.ts";

const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

/** The number made of `count` digits at `at`, or -1. */
function digits(text: string, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Milliseconds since 1970 at midnight UTC of a date that exists, or undefined. */
function dateMs(text: string): number | undefined {
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || text[4] !== "-" || text[7] !== "-") return undefined;
  const days = (DAYS_IN_MONTH[month - 1] as number) + (month === 2 && isLeap(year) ? 1 : 0);
  if (day > days) return undefined;
  const utc = Date.UTC(2000, month - 1, day);
  return year === 2000 ? utc : new Date(utc).setUTCFullYear(year, month - 1, day);
}

/** Offset east of UTC in ms of "Z" or "+hh:mm" that ends the text at `at`, or undefined. */
function offsetMs(text: string, at: number): number | undefined {
  const sign = text[at];
  if (sign === "Z" || sign === "z") return text.length === at + 1 ? 0 : undefined;
  const hours = digits(text, at + 1, 2);
  const minutes = digits(text, at + 4, 2);
  if ((sign !== "+" && sign !== "-") || text[at + 3] !== ":" || text.length !== at + 6) return undefined;
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return undefined;
  return (sign === "-" ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

let cachedDate = "";
let cachedDateMs = 0;

/**
 * Milliseconds since 1970 of an RFC 3339 date-time, or undefined when it is none. Fractions of a second beyond milliseconds are cut;
 * a leap second (:60) is the first moment of the next minute.
 */
export function parseRfc3339(text: string): number | undefined {
  if (text.length < 20 || text.length > 40) return undefined;
  const date = text.slice(0, 10);
  if (date !== cachedDate) {
    const parsed = dateMs(date);
    if (parsed === undefined) return undefined;
    cachedDate = date;
    cachedDateMs = parsed;
  }
  const separator = text[10];
  const hours = digits(text, 11, 2);
  const minutes = digits(text, 14, 2);
  const seconds = digits(text, 17, 2);
  if ((separator !== "T" && separator !== "t" && separator !== " ") || text[13] !== ":" || text[16] !== ":") return undefined;
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 60) return undefined;
  let at = 19;
  let fractionMs = 0;
  if (text[at] === ".") {
    let weight = 100;
    for (at++; at < text.length; at++, weight /= 10) {
      const digit = digits(text, at, 1);
      if (digit < 0) break;
      if (weight >= 1) fractionMs += digit * weight;
    }
    if (at === 20) return undefined;
  }
  const offset = offsetMs(text, at);
  if (offset === undefined) return undefined;
  return cachedDateMs + ((hours * 60 + minutes) * 60 + seconds) * 1000 + fractionMs - offset;
}

const BEHIND_MILLISECOND = /^\.\d{3}(\d{1,6})/;

/** Nanoseconds, 0 to 999,999, behind the millisecond that parseRfc3339() makes of a text; finer digits are cut. */
export function nanosecondsOfRfc3339(text: string): number {
  const digitsBehind = BEHIND_MILLISECOND.exec(text.slice(19))?.[1];
  return digitsBehind === undefined ? 0 : Number(digitsBehind.padEnd(6, "0"));
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, "0"));
const FIRST_MS = -62_167_219_200_000;
const LAST_MS = FIRST_MS + 3_652_425 * DAY_MS - 1;

let formattedDay = Number.NaN;
let formattedDate = "";

/** The last moments that were asked for, each in the place of its last three bits: a run of events names the same few again and again. */
const MOMENTS_RETAINED = 8;
const retainedMs = new Float64Array(MOMENTS_RETAINED).fill(Number.NaN);
const retainedTexts: string[] = new Array(MOMENTS_RETAINED).fill("");

/** RFC 3339 in UTC with milliseconds. The moment must lie in the years 0 to 9999. */
export function formatRfc3339(ms: number): string {
  const moment = Math.trunc(Math.min(LAST_MS, Math.max(FIRST_MS, ms)));
  const index = moment & (MOMENTS_RETAINED - 1);
  if (retainedMs[index] === moment) return retainedTexts[index] as string;
  const text = format(moment);
  retainedMs[index] = moment;
  retainedTexts[index] = text;
  return text;
}

/** The same, in whole milliseconds, where a year of four digits can say it; any other number stays one. */
export function rfc3339OrNumber(ms: number): string | number {
  return ms >= FIRST_MS && Math.floor(ms) <= LAST_MS ? formatRfc3339(Math.floor(ms)) : ms;
}

function format(moment: number): string {
  const day = Math.floor(moment / DAY_MS);
  if (day !== formattedDay) {
    formattedDate = new Date(day * DAY_MS).toISOString().slice(0, 11);
    formattedDay = day;
  }
  const inDay = moment - day * DAY_MS;
  const seconds = Math.floor(inDay / 1000);
  const hour = Math.floor(seconds / 3600);
  const minute = Math.floor(seconds / 60) % 60;
  const second = seconds % 60;
  const fraction = String(1000 + (inDay % 1000)).slice(1);
  return `${formattedDate}${TWO_DIGITS[hour]}:${TWO_DIGITS[minute]}:${TWO_DIGITS[second]}.${fraction}Z`;
}

/** A moment as people read it in a sentence: "2026-11-27 03:05:00 UTC". */
export function momentText(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
