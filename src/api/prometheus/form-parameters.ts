// Parameters of Prometheus' HTTP API, of the query and of a form together, read as it reads them and with its messages. Those that it does not know are ignored.
import { PROMQL_PARAMETERS_MAX } from "../../core/config/promql-limits.ts";
import { parseRfc3339 } from "../../core/time/rfc3339.ts";
import type { LabelMatcher } from "../../domain/promql/labels/label-matcher.ts";
import { parseDurationMs } from "../../domain/promql/parser/duration-text.ts";
import { parseFloat64 } from "../../domain/promql/parser/number-text.ts";
import { parseSelector } from "../../domain/promql/parser/parser.ts";
import { ParseError } from "../../domain/promql/parser/position.ts";
import { quote } from "../../domain/promql/parser/quoted-text.ts";
import { PrometheusError } from "./prometheus-envelope.ts";

/** Seconds of a signed 64 bit count of nanoseconds. */
const SECONDS_MAX = 9_223_372_036;
/** Ends of Prometheus' time, as its clients send them. */
const TIME_ENDS: ReadonlyMap<string, number> = new Map([
  ["-292273086-05-16T16:47:06Z", Number.MIN_SAFE_INTEGER],
  ["292277025-08-18T07:12:54.999999999Z", Number.MAX_SAFE_INTEGER],
]);

/** Times of a range, in milliseconds, both included. */
export interface SelectedRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The parameters of one call. Every reader throws PrometheusError. */
export class FormParameters {
  readonly #values: URLSearchParams;

  constructor(text: string) {
    this.#values = new URLSearchParams(text);
    if (this.#values.size > PROMQL_PARAMETERS_MAX)
      throw new PrometheusError("bad_data", `a call has at most ${PROMQL_PARAMETERS_MAX} parameters`);
  }

  /** A text; empty where it is absent. */
  text(name: string): string {
    return this.#values.get(name) ?? "";
  }

  /** A moment in milliseconds; `initial` where it is absent. */
  time(name: string, initial: number): number {
    const text = this.text(name);
    if (text === "") return initial;
    const ms = parseTimeMs(text);
    if (ms !== undefined) return ms;
    throw invalid(name, `cannot parse ${quote(text)} to a valid timestamp`);
  }

  /** A moment that has to be there. */
  neededTime(name: string): number {
    const text = this.text(name);
    const ms = parseTimeMs(text);
    if (ms !== undefined) return ms;
    throw invalid(name, `cannot parse ${quote(text)} to a valid timestamp`);
  }

  /** A duration in milliseconds that has to be there. */
  neededDuration(name: string): number {
    return durationOf(name, this.text(name));
  }

  /** A duration in milliseconds; undefined where it is absent. */
  duration(name: string): number | undefined {
    const text = this.text(name);
    return text === "" ? undefined : durationOf(name, text);
  }

  /** The lookback of this query alone; undefined where it is absent. */
  get lookbackMs(): number | undefined {
    const text = this.text("lookback_delta");
    if (text === "") return undefined;
    const ms = parseDuration(text);
    if (typeof ms === "string") throw new PrometheusError("bad_data", `error parsing lookback delta duration: ${ms}`);
    return ms > 0 ? ms : undefined;
  }

  /** How much an answer may have; `Infinity` where nothing is said. */
  get limit(): number {
    const text = this.text("limit");
    if (text === "") return Number.POSITIVE_INFINITY;
    if (!/^[+-]?\d+$/.test(text)) throw invalid("limit", `strconv.Atoi: parsing ${quote(text)}: invalid syntax`);
    const limit = Number(text);
    if (limit < 0) throw invalid("limit", "limit must be non-negative");
    return limit === 0 ? Number.POSITIVE_INFINITY : limit;
  }

  /** The selectors of match[]; each has a matcher that an empty text does not fulfil. */
  get selectors(): ReadonlyArray<readonly LabelMatcher[]> {
    return this.#values.getAll("match[]").map((text) => {
      const matchers = selectorOf(text);
      if (matchers.some((matcher) => !matcher.matches(""))) return matchers;
      throw invalid("match[]", "match[] must contain at least one non-empty matcher");
    });
  }

  /** start and end; all times where they are absent. */
  get range(): SelectedRange {
    const fromMs = this.time("start", Number.MIN_SAFE_INTEGER);
    const toMs = this.time("end", Number.MAX_SAFE_INTEGER);
    if (toMs < fromMs) throw invalid("end", "end timestamp must not be before start timestamp");
    return { fromMs, toMs };
  }
}

/** A parameter that cannot be used. */
export function invalid(name: string, message: string): PrometheusError {
  return new PrometheusError("bad_data", `invalid parameter ${quote(name)}: ${message}`);
}

function selectorOf(text: string): readonly LabelMatcher[] {
  try {
    return parseSelector(text);
  } catch (error) {
    if (error instanceof ParseError) throw invalid("match[]", error.message);
    throw error;
  }
}

/** Seconds since 1970, perhaps with a fraction, or RFC 3339. */
function parseTimeMs(text: string): number | undefined {
  const seconds = parseFloat64(text);
  if (seconds !== undefined && Number.isFinite(seconds)) return Math.round(seconds * 1_000);
  return TIME_ENDS.get(text) ?? parseRfc3339(text);
}

function durationOf(name: string, text: string): number {
  const ms = parseDuration(text);
  if (typeof ms === "string") throw invalid(name, ms);
  return ms;
}

/** Milliseconds of seconds or of a duration such as 5m; else what is wrong. */
function parseDuration(text: string): number | string {
  const seconds = parseFloat64(text);
  if (seconds !== undefined) {
    if (Math.abs(seconds) <= SECONDS_MAX) return Math.round(seconds * 1_000);
    return `cannot parse ${quote(text)} to a valid duration. It overflows int64`;
  }
  const ms = parseDurationMs(text);
  return typeof ms === "number" ? ms : `cannot parse ${quote(text)} to a valid duration`;
}
