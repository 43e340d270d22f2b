// The series that stand for one histogram or summary: its quantiles, its count and its sum. Each stream is opened when its first value comes.
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { DerivedSeries, DerivedStream } from "../shard/derived-series.ts";

export interface DerivedQuantilesDependencies {
  readonly series: Pick<DerivedSeries, "openWithin" | "write" | "writeWidth" | "end">;
  readonly seriesLimit: number;
  /** Told of each value that finds no stream, because the tenant has as many as it may. */
  readonly countRefused: () => void;
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

  /** Writes a value, behind the width of the bucket it was estimated in unless that is 0; a value that is not finite is left out. */
  write(suffix: string, timeMs: number, value: number, width: number, arrivalMs: number): void {
    if (!Number.isFinite(value)) return;
    const { series, seriesLimit, countRefused } = this.#dependencies;
    const stream = this.#stream(suffix, seriesLimit);
    if (stream === undefined) {
      countRefused();
      return;
    }
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
    const opened = this.#dependencies.series.openWithin({ ...this.#name, metricName: this.#name.metricName + suffix }, streamsMax);
    if (opened !== undefined) this.#streams.set(suffix, opened);
    return opened;
  }
}
