// Values of templates as Go has them: a bigint is an int, a number a float64. What they are called, whether they are true, and how %v prints them.
import { compareTexts } from "../../../core/text/text-order.ts";
import { formatRfc3339 } from "../../../core/time/rfc3339.ts";
import { formatShortest } from "../../promql/parser/number-text.ts";

/** A struct: its type in Go's words, and its fields. */
export class GoStruct {
  readonly type: string;
  readonly fields: ReadonlyMap<string, GoValue>;

  constructor(type: string, fields: ReadonlyMap<string, GoValue>) {
    this.type = type;
    this.fields = fields;
  }
}

/** A moment in UTC; nanoseconds behind the millisecond are cut. */
export class GoTime {
  readonly ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }

  /** As Go prints a time: 2026-01-31 12:00:00.5 +0000 UTC. */
  toString(): string {
    const text = formatRfc3339(this.ms);
    const fraction = text.slice(19, -1).replace(/\.?0+$/, "");
    return `${text.slice(0, 10)} ${text.slice(11, 19)}${fraction} +0000 UTC`;
  }
}

/** A duration as Go has one, which prints with its units. */
export class GoDuration {
  readonly seconds: number;

  constructor(seconds: number) {
    this.seconds = seconds;
  }

  /** As Go prints a duration: 1h30m0s, 1.5ms. */
  toString(): string {
    const sign = this.seconds < 0 ? "-" : "";
    const seconds = Math.abs(this.seconds);
    if (seconds === 0) return "0s";
    if (seconds < 1e-6) return `${sign}${Math.round(seconds * 1e9)}ns`;
    if (seconds < 1e-3) return `${sign}${Number((seconds * 1e6).toFixed(3))}µs`;
    if (seconds < 1) return `${sign}${Number((seconds * 1e3).toFixed(6))}ms`;
    const whole = Math.floor(seconds);
    const rest = Number(((whole % 60) + (seconds - whole)).toFixed(9));
    const minutes = Math.floor(whole / 60) % 60;
    const hours = Math.floor(whole / 3_600);
    return `${sign}${hours > 0 ? `${hours}h` : ""}${hours > 0 || minutes > 0 ? `${minutes}m` : ""}${rest}s`;
  }
}

/** A value; null is nil, undefined is no value at all. */
export type GoValue =
  | null
  | undefined
  | string
  | number
  | bigint
  | boolean
  | GoStruct
  | GoTime
  | GoDuration
  | ReadonlyMap<string, GoValue>
  | readonly GoValue[];

/** Whether a value is a list. */
export function isGoList(value: GoValue): value is readonly GoValue[] {
  return Array.isArray(value);
}

/** Whether a value is a map. */
export function isGoMap(value: GoValue): value is ReadonlyMap<string, GoValue> {
  return value instanceof Map;
}

/** The name of a value's type in Go. */
export function goType(value: GoValue): string {
  if (value === null || value === undefined) return "<nil>";
  if (value instanceof GoStruct) return value.type;
  if (value instanceof GoTime) return "*time.Time";
  if (value instanceof GoDuration) return "*time.Duration";
  if (isGoMap(value)) return "map[string]string";
  if (isGoList(value)) return value[0] instanceof GoStruct || value.length === 0 ? "template.queryResult" : "[]interface {}";
  return { string: "string", number: "float64", bigint: "int", boolean: "bool" }[
    typeof value as "string" | "number" | "bigint" | "boolean"
  ];
}

/** Whether Go takes a value for true: not zero, not empty. */
export function isTrue(value: GoValue): boolean {
  if (value === null || value === undefined || value === false || value === "" || value === 0 || value === 0n) return false;
  if (isGoMap(value)) return value.size > 0;
  return !isGoList(value) || value.length > 0;
}

/** A value as %v prints it. */
export function goText(value: GoValue): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "number") return formatShortest(value);
  if (isGoMap(value)) {
    const sorted = [...value].sort(([a], [b]) => compareTexts(a, b));
    return `map[${sorted.map(([key, member]) => `${key}:${goText(member)}`).join(" ")}]`;
  }
  if (isGoList(value)) return `[${value.map(goText).join(" ")}]`;
  if (value instanceof GoStruct) return `{${[...value.fields.values()].map(goText).join(" ")}}`;
  return String(value);
}
