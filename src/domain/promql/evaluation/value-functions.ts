// Functions of one value: mathematics and the parts of a date (simpleFloatFunc and dateWrapper in promql/functions.go of Prometheus).
import { ownMember } from "../../../core/collections/own-member.ts";
import { DAY_MS } from "../../../core/time/durations.ts";

type ValueFunction = (value: number) => number;

/** Mathematics by name. */
export const MATH_FUNCTIONS: Readonly<Record<string, ValueFunction>> = {
  abs: Math.abs,
  ceil: Math.ceil,
  floor: Math.floor,
  exp: Math.exp,
  sqrt: Math.sqrt,
  ln: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  rad: (value) => (value * Math.PI) / 180,
  deg: (value) => (value * 180) / Math.PI,
  sgn: (value) => (value < 0 ? -1 : value > 0 ? 1 : value),
};

function dayOfYear(date: Date): number {
  const midnight = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
  return (midnight - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS + 1;
}

const DATE_PARTS: Readonly<Record<string, (date: Date) => number>> = {
  days_in_month: (date) => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate(),
  day_of_month: (date) => date.getUTCDate(),
  day_of_week: (date) => date.getUTCDay(),
  day_of_year: dayOfYear,
  hour: (date) => date.getUTCHours(),
  minute: (date) => date.getUTCMinutes(),
  month: (date) => date.getUTCMonth() + 1,
  year: (date) => date.getUTCFullYear(),
};

/** The part of a date that a function names, of seconds since 1970 in UTC; undefined for other functions. */
export function datePartOf(name: string): ValueFunction | undefined {
  const part = ownMember(DATE_PARTS, name);
  return part === undefined ? undefined : (seconds) => part(new Date(Math.trunc(seconds) * 1_000));
}
