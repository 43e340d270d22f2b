// Samples of the past by series, as the readers of this folder find them. Bounded: what is beyond is an error of the whole, because half a history would
// look like one.
import { IMPORT_AGE_MS_MAX, IMPORT_PROBLEMS_SHOWN, TIMESTAMP_FUTURE_MS_MAX } from "../../core/config/limits.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { MetricScope } from "../series/metric-scope.ts";
import { canonicalAttributes } from "../series/stream-identity.ts";
import { isRefusal, judgeRecord, type Refusal } from "../series/telemetry-record.ts";

/** The names of a series; `metric_type: "counter"` among the attributes says that values are cumulative. */
export interface HistoryName {
  readonly serviceId: string;
  readonly metricName: string;
  readonly attributes: Attributes;
  /** Of a series of OpenTelemetry: whoever stores it says whether that belongs to its identity. */
  readonly scope?: MetricScope | undefined;
  /** SR_SERVICE_LABEL of a series that is named by labels of Prometheus. */
  readonly serviceLabel?: number | undefined;
}

/** What says of a series that its values are cumulative. */
export const COUNTER: Attributes = { metric_type: "counter" };

/** One series; times in ms since 1970, ascending and each once after `finish`. */
export interface HistorySeries extends HistoryName {
  times: Float64Array;
  values: Float64Array;
  /** When counting began as the sender says, 0 for not known; of a counter of which that is known at all. */
  starts?: Float64Array | undefined;
  length: number;
}

/** Item that was left out, and where it stood: "line 7". */
export interface HistoryProblem {
  readonly at: string;
  readonly error: string;
  readonly message: string;
}

/** The history as a whole cannot be taken. */
export class HistoryError extends Error {
  readonly code: "invalid_json" | "unprocessable" | "batch_too_large";

  constructor(code: HistoryError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export interface HistoryLimits {
  readonly nowMs: number;
  /** Samples that are older are left out; ten years, IMPORT_AGE_MS_MAX, where it is not given. */
  readonly ageMsMax?: number;
  readonly samplesMax: number;
}

const FIRST_SAMPLES = 16;

/** Collects one history. */
export class HistoryCollector {
  readonly #limits: HistoryLimits;
  /** By canonical names; why for one that was refused. */
  readonly #series = new Map<string, HistorySeries | Refusal>();
  readonly problems: HistoryProblem[] = [];
  samples = 0;
  refused = 0;

  constructor(limits: HistoryLimits) {
    this.#limits = limits;
  }

  /** The series of that name; undefined when no stream may have it, which is a problem of `samples` samples. */
  find(name: HistoryName, at: () => string, samples: number): HistorySeries | undefined {
    const key = JSON.stringify([name.serviceId, name.metricName, name.scope?.name]) + canonicalAttributes(name.attributes);
    const series = this.#series.get(key) ?? this.#open(name);
    this.#series.set(key, series);
    if (!("reason" in series)) return series;
    this.refuse(at, series.reason, series.message, samples);
    return undefined;
  }

  #open({ serviceId, metricName, attributes, scope, serviceLabel }: HistoryName): HistorySeries | Refusal {
    const timestamp = formatRfc3339(this.#limits.nowMs);
    const record = { service_id: serviceId, metric_name: metricName, value: 0, timestamp, attributes };
    const judged = judgeRecord(record, this.#limits.nowMs);
    if (isRefusal(judged)) return judged;
    return {
      serviceId,
      metricName,
      attributes,
      scope,
      serviceLabel,
      times: new Float64Array(FIRST_SAMPLES),
      values: new Float64Array(FIRST_SAMPLES),
      length: 0,
    };
  }

  /** Adds a sample; `startMs` as HistorySeries has it. Throws HistoryError beyond the maximum. */
  add(series: HistorySeries, timeMs: number, value: number, at: () => string, startMs = 0): void {
    const { nowMs, samplesMax, ageMsMax = IMPORT_AGE_MS_MAX } = this.#limits;
    if (!Number.isFinite(value)) this.refuse(at, "invalid_value", `the value is ${value}, which is not finite`);
    else if (!(timeMs >= nowMs - ageMsMax)) this.refuse(at, "timestamp_too_old", `${shownTime(timeMs)} is more than ten years in the past`);
    else if (timeMs > nowMs + TIMESTAMP_FUTURE_MS_MAX) {
      this.refuse(at, "timestamp_in_future", `${shownTime(timeMs)} is more than 10 minutes in the future`);
    } else {
      if (++this.samples > samplesMax) throw this.tooMany();
      push(series, timeMs, value, startMs);
    }
  }

  /** Samples that a history may have. */
  get samplesMax(): number {
    return this.#limits.samplesMax;
  }

  /** Error with which a history with more is refused. */
  tooMany(): HistoryError {
    const message = `a history may have ${this.samplesMax} samples at a time, got more; split it, or use vedette import`;
    return new HistoryError("batch_too_large", message);
  }

  /** Notes what is left out. */
  refuse(at: () => string, error: string, message: string, samples = 1): void {
    this.refused += Math.max(1, samples);
    if (this.problems.length < IMPORT_PROBLEMS_SHOWN) this.problems.push({ at: at(), error, message });
  }

  /** The series with samples, each in order of time; of samples at one time the last counts. */
  finish(): HistorySeries[] {
    const series = [...this.#series.values()].filter((one): one is HistorySeries => !("reason" in one) && one.length > 0);
    for (const one of series) orderByTime(one);
    return series;
  }
}

function shownTime(ms: number): string {
  return Number.isFinite(ms) ? formatRfc3339(ms) : String(ms);
}

function push(series: HistorySeries, timeMs: number, value: number, startMs: number): void {
  if (series.length === series.times.length) {
    series.times = grown(series.times);
    series.values = grown(series.values);
    if (series.starts !== undefined) series.starts = grown(series.starts);
  }
  if (startMs > 0) {
    series.starts ??= new Float64Array(series.times.length);
    series.starts[series.length] = startMs;
  }
  series.times[series.length] = timeMs;
  series.values[series.length++] = value;
}

function grown(array: Float64Array): Float64Array {
  const larger = new Float64Array(2 * array.length);
  larger.set(array);
  return larger;
}

/** Puts samples in order of time, of those at one time the last; most are already. */
export function orderByTime(series: Pick<HistorySeries, "times" | "values" | "starts" | "length">): void {
  const { times, values, starts, length } = series;
  let isAscending = true;
  for (let i = 1; i < length && isAscending; i++) isAscending = (times[i - 1] as number) < (times[i] as number);
  if (isAscending) return;
  const places = Uint32Array.from({ length }, (_, i) => i).sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
  const retained = places.filter((index, i) => i === length - 1 || times[index] !== times[places[i + 1] as number]);
  series.times = Float64Array.from(retained, (index) => times[index] as number);
  series.values = Float64Array.from(retained, (index) => values[index] as number);
  if (starts !== undefined) series.starts = Float64Array.from(retained, (index) => starts[index] as number);
  series.length = retained.length;
}
