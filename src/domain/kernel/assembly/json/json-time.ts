// RFC 3339 date-times, the grammar of core/time/rfc3339.ts, which is the slow twin: fractions beyond milliseconds are cut, :60 is the next minute.
// Sketch: 8 ns when the date is that of the time before.
import { isDigit, MINUS, QUOTE } from "./json-text";

const BYTES_MAX: usize = 40;
const DAY_MS: i64 = 86_400_000;

/** The time that was read last, in ms since 1970. */
export let timeMs: i64 = 0;

// The date that was read last, as text and in ms.
let dateHead: u64 = 0;
let dateTail: u32 = 0;
let dateMs: i64 = 0;

/** The number that two digits make; 100 and more when one is none. */
// @ts-ignore
@inline
function twoDigits(p: usize): u32 {
  const tens = <u32>load<u8>(p) - 0x30;
  const ones = <u32>load<u8>(p, 1) - 0x30;
  return tens <= 9 && ones <= 9 ? tens * 10 + ones : 100;
}

/** Reads the string whose content begins at p into timeMs and answers the position of its closing quote, or 0 when it is no date-time. */
export function timeEnd(p: usize): usize {
  const start = p;
  if ((load<u64>(p) != dateHead || <u32>load<u16>(p, 8) != dateTail) && !readDate(p)) return 0;
  const separator: u32 = load<u8>(p, 10);
  if (((separator | 0x20) != 0x74 && separator != 0x20) || <u32>load<u8>(p, 13) != 0x3a || <u32>load<u8>(p, 16) != 0x3a) return 0;
  const hours = twoDigits(p + 11), minutes = twoDigits(p + 14), seconds = twoDigits(p + 17);
  if (hours > 23 || minutes > 59 || seconds > 60) return 0;
  let fractionMs: u32 = 0;
  p += 19;
  if (<u32>load<u8>(p) == 0x2e) {
    const fraction = ++p;
    for (let weight: u32 = 100; isDigit(load<u8>(p)); weight /= 10) fractionMs += weight * (<u32>load<u8>(p++) - 0x30);
    if (p == fraction) return 0;
  }
  p = offsetEnd(p);
  if (p == 0 || <u32>load<u8>(p) != QUOTE || p - start > BYTES_MAX) return 0;
  timeMs = dateMs + <i64>(((hours * 60 + minutes) * 60 + seconds) * 1000 + fractionMs) - offsetMs;
  return p;
}

let offsetMs: i64 = 0;

/** Reads "Z" or "+hh:mm" into offsetMs and answers the position behind it, or 0. */
// @ts-ignore
@inline
function offsetEnd(p: usize): usize {
  const sign: u32 = load<u8>(p);
  offsetMs = 0;
  if ((sign | 0x20) == 0x7a) return p + 1;
  const hours = twoDigits(p + 1), minutes = twoDigits(p + 4);
  if ((sign != 0x2b && sign != MINUS) || <u32>load<u8>(p, 3) != 0x3a || hours > 23 || minutes > 59) return 0;
  offsetMs = <i64>((hours * 60 + minutes) * 60_000);
  if (sign == MINUS) offsetMs = -offsetMs;
  return p + 6;
}

function isLeap(year: u32): bool {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

function daysInMonth(year: u32, month: u32): u32 {
  if (month == 2) return isLeap(year) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/** Reads "yyyy-mm-dd" into dateMs; false when there is no such date. */
function readDate(p: usize): bool {
  const century = twoDigits(p), rest = twoDigits(p + 2), month = twoDigits(p + 5), day = twoDigits(p + 8);
  if (century > 99 || rest > 99 || <u32>load<u8>(p, 4) != MINUS || <u32>load<u8>(p, 7) != MINUS) return false;
  const year = century * 100 + rest;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return false;
  dateHead = load<u64>(p);
  dateTail = load<u16>(p, 8);
  dateMs = daysSince1970(year, month, day) * DAY_MS;
  return true;
}

/** Years begin in March here, so that the leap day is the last one (H. Hinnant, chrono-Compatible Low-Level Date Algorithms, days_from_civil). */
function daysSince1970(year: i64, month: i64, day: i64): i64 {
  if (month <= 2) year--;
  const era = (year >= 0 ? year : year - 399) / 400;
  const yearOfEra = year - era * 400;
  const dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468;
}
