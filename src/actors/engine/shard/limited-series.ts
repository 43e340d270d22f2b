// Derived series within SERIES_LIMIT: a value whose stream would be one too many is counted, and its series tried again with the next value.
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { DerivedSeries, DerivedStream } from "./derived-series.ts";

export interface LimitedSeriesDependencies {
  readonly series: Pick<DerivedSeries, "openWithin" | "write" | "flush">;
  readonly counters: Pick<EngineCounters, "add">;
}

/** Writes to series by name. */
export class LimitedSeries {
  readonly #streamsMax: number;
  readonly #dependencies: LimitedSeriesDependencies;

  /** `streamsMax` is that of one tenant. */
  constructor(streamsMax: number, dependencies: LimitedSeriesDependencies) {
    this.#streamsMax = streamsMax;
    this.#dependencies = dependencies;
  }

  /** Writes a value to a stream, or opens it by name first; answers the stream, undefined where there is no room for it. */
  write(
    stream: DerivedStream | undefined,
    name: () => StreamName,
    flags: number,
    timeMs: number,
    value: number,
    arrivalMs: number,
  ): DerivedStream | undefined {
    const { series, counters } = this.#dependencies;
    const open = stream ?? series.openWithin(name(), this.#streamsMax, flags);
    if (open === undefined) counters.add("derivedRefused", 1);
    else series.write(open, timeMs, value, arrivalMs);
    return open;
  }

  flush(): void {
    this.#dependencies.series.flush();
  }
}
