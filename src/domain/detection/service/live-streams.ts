// Streams of a service that are alive: those with a value in the last full hour. Of a service whose instances get new names each hour, the old ones are no longer among
// those of which one may depart by chance.

import { lowerBound } from "../../../core/collections/sorted-search.ts";
import { HOUR_MS } from "../../../core/time/durations.ts";

/** The last full hour before a time: [from, to). */
export function lastFullHour(nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  const toMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  return { fromMs: toMs - HOUR_MS, toMs };
}

/** Live streams of services whose samples are all known: counts by hour, made when they are asked for. */
export class LiveStreams {
  readonly #series: ReadonlyArray<{ readonly times: Float64Array }>;
  #byHour: Map<number, number> | undefined;

  /** Series of one service, ascending by time. */
  constructor(series: ReadonlyArray<{ readonly times: Float64Array }>) {
    this.#series = series;
  }

  /** Those alive at a time; all of them where none had a value in the last full hour. */
  at(nowMs: number): number {
    this.#byHour ??= countsByHour(this.#series);
    return this.#byHour.get(lastFullHour(nowMs).fromMs) ?? this.#series.length;
  }
}

function countsByHour(series: ReadonlyArray<{ readonly times: Float64Array }>): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { times } of series) {
    for (let at = 0; at < times.length; ) {
      const hourMs = Math.floor((times[at] as number) / HOUR_MS) * HOUR_MS;
      counts.set(hourMs, (counts.get(hourMs) ?? 0) + 1);
      at = lowerBound(times, hourMs + HOUR_MS);
    }
  }
  return counts;
}
