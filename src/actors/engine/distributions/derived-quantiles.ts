// The series that stand for one histogram or summary: its quantiles, its count and its sum. Each stream is opened when its first value comes.
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { DerivedSeries, DerivedStream } from "../messages/derived-series.ts";

export interface DerivedQuantilesDependencies {
  readonly series: Pick<DerivedSeries, "openWithin" | "write" | "end">;
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

  /** Writes a value; one that is not finite is left out. */
  write(suffix: string, timeMs: number, value: number, arrivalMs: number): void {
    if (!Number.isFinite(value)) return;
    const stream = this.#stream(suffix, this.#dependencies.seriesLimit);
    if (stream === undefined) this.#dependencies.countRefused();
    else this.#dependencies.series.write(stream, timeMs, value, arrivalMs);
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
