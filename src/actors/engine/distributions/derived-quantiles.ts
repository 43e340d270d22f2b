// The series that stand for one histogram or summary: its quantiles, its count and its sum. Each stream is opened when its first value comes.
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { DerivedSeries, DerivedStream } from "../shard/derived-series.ts";

export interface DerivedQuantilesDependencies {
  readonly series: Pick<DerivedSeries, "openWithin" | "write" | "writeWidth" | "writeRestart" | "end">;
  readonly seriesLimit: number;
  /** Told of each value that finds no stream, because the tenant has as many as it may. */
  readonly countRefused: () => void;
  /** What their definitions say besides their names: what named the service of the series that they are derived from. */
  readonly defined?: number;
}

/** One value of a derived series. */
export interface DerivedValue {
  readonly timeMs: number;
  readonly value: number;
  /** Width of the bucket it was estimated in; 0 for a value that is no estimate. */
  readonly width: number;
  /** Monotonic milliseconds of the bytes that it comes from. */
  readonly arrivalMs: number;
  /** Counting began anew in its interval. */
  readonly isRestart?: boolean;
}

/** A limit under which no stream is made. */
const NO_NEW = 0;

/** Series of one base name. */
export class DerivedQuantiles {
  readonly #name: StreamName;
  readonly #dependencies: DerivedQuantilesDependencies;
  readonly #streams = new Map<string, DerivedStream>();

  constructor(name: StreamName, dependencies: DerivedQuantilesDependencies) {
    this.#name = name;
    this.#dependencies = dependencies;
  }

  /** Writes a value, behind what is to be known of it; a value that is not finite is left out. */
  write(suffix: string, { timeMs, value, width, arrivalMs, isRestart = false }: DerivedValue): void {
    if (!Number.isFinite(value)) return;
    const { series, seriesLimit, countRefused } = this.#dependencies;
    const stream = this.#stream(suffix, seriesLimit);
    if (stream === undefined) {
      countRefused();
      return;
    }
    if (isRestart) series.writeRestart(stream, timeMs, arrivalMs);
    if (width > 0) series.writeWidth(stream, timeMs, width, arrivalMs);
    series.write(stream, timeMs, value, arrivalMs);
  }

  /** Ends the series with these suffixes, as far as there are any. */
  end(suffixes: Iterable<string>, timeMs: number, arrivalMs: number): void {
    for (const suffix of suffixes) {
      const stream = this.#stream(suffix, NO_NEW);
      if (stream !== undefined) this.#dependencies.series.end(stream, timeMs, arrivalMs);
    }
  }

  #stream(suffix: string, streamsMax: number): DerivedStream | undefined {
    const known = this.#streams.get(suffix);
    if (known !== undefined) return known;
    const { series, defined } = this.#dependencies;
    const opened = series.openWithin({ ...this.#name, metricName: this.#name.metricName + suffix }, streamsMax, defined);
    if (opened !== undefined) this.#streams.set(suffix, opened);
    return opened;
  }
}
