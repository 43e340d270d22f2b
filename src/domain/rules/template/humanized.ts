// Numbers as people read them: humanize and its relatives of Prometheus (template/template.go, common/helpers/templates).
import { DAY_MS } from "../../../core/time/durations.ts";
import { parseFloat64 } from "../../promql/parser/number-text.ts";
import { quote } from "../../promql/parser/quoted-text.ts";
import { FunctionError } from "./go-comparison.ts";
import { generalText } from "./go-float-text.ts";
import { GoDuration, GoTime, type GoValue, goText, goType } from "./go-value.ts";

const ABOVE = ["k", "M", "G", "T", "P", "E", "Z", "Y"] as const;
const BELOW = ["m", "u", "n", "p", "f", "a", "z", "y"] as const;
const BINARY = ["ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"] as const;
const DIGITS = 4;
/** A signed 64 bit count of nanoseconds. */
const NANOSECONDS_MAX = 2 ** 63;

/** A number, or a text that says one. */
export function toFloat(value: GoValue): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof GoDuration) return value.seconds;
  if (typeof value !== "string") throw new FunctionError(`can't convert ${goType(value)} to float`);
  const number = parseFloat64(value);
  if (number === undefined) throw new FunctionError(`strconv.ParseFloat: parsing ${quote(value)}: invalid syntax`);
  return number;
}

function short(value: number): string {
  return generalText(value, DIGITS);
}

function scaled(value: number, base: number, prefixes: readonly string[]): string {
  let [left, prefix] = [value, ""];
  for (const next of prefixes) {
    if (Math.abs(left) < base) break;
    prefix = next;
    left /= base;
  }
  return short(left) + prefix;
}

function scaledUp(value: number): string {
  let [left, prefix] = [value, ""];
  for (const next of BELOW) {
    if (Math.abs(left) >= 1) break;
    prefix = next;
    left *= 1_000;
  }
  return short(left) + prefix;
}

/** 1234567 as 1.235M. */
export function humanize(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return short(value);
  return Math.abs(value) >= 1 ? scaled(value, 1_000, ABOVE) : scaledUp(value);
}

/** 1048576 as 1Mi: prefixes that are powers of 1,024. */
export function humanize1024(value: number): string {
  return Math.abs(value) <= 1 || !Number.isFinite(value) ? short(value) : scaled(value, 1_024, BINARY);
}

/** 3661 as 1h 1m 1s. */
export function humanizeDuration(value: number): string {
  if (!Number.isFinite(value)) return short(value);
  if (value === 0) return "0s";
  if (Math.abs(value) < 1) return `${scaledUp(value)}s`;
  const sign = value < 0 ? "-" : "";
  const size = Math.abs(value);
  const whole = Math.trunc(size);
  const [seconds, minutes] = [whole % 60, Math.floor(whole / 60) % 60];
  const [hours, days] = [Math.floor(whole / 3_600) % 24, Math.floor(whole / (DAY_MS / 1_000))];
  if (days > 0) return `${sign}${days}d ${hours}h ${minutes}m ${seconds}s`;
  if (hours > 0) return `${sign}${hours}h ${minutes}m ${seconds}s`;
  return minutes > 0 ? `${sign}${minutes}m ${seconds}s` : `${sign}${short(size)}s`;
}

/** 0.1234 as 12.34%. */
export function humanizePercentage(value: number): string {
  return `${short(value * 100)}%`;
}

/** Seconds since 1970 as a moment. */
export function toTime(value: number): GoTime {
  if (!Number.isFinite(value) || Math.abs(value) * 1e9 >= NANOSECONDS_MAX) {
    throw new FunctionError(`${goText(value)} cannot be represented as a nanoseconds timestamp since it overflows int64`);
  }
  return new GoTime(Math.trunc(value * 1_000));
}

/** Seconds since 1970 as the text of a moment; what is no moment stays a number. */
export function humanizeTimestamp(value: number): string {
  return Number.isFinite(value) ? String(toTime(value)) : short(value);
}
