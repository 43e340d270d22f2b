// What several streams of a pair come to together under the long baselines, as the Watchdog's cycles see it (actors/engine/watchdog/pairs/aggregate-pass.ts does so live).
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import type { ConfirmedPair } from "../../../core/protocol/engine-control.ts";
import type { KnownDays } from "../../calendar/known-days.ts";
import { aggregateName, PairAggregate } from "../../detection/pair/pair-aggregate.ts";
import type { OffsetMs } from "../../detection/seasonal/time-zone-hours.ts";
import type { WatchdogSettings } from "../../detection/watchdog-settings.ts";
import type { BacktestSeries } from "../history.ts";
import { PairFindings } from "./pair-findings.ts";

/** Value of a stream in a cycle: the mean of its new observations, and the time of the newest. */
export interface CycleMean {
  readonly cycleMs: number;
  readonly timeMs: number;
  readonly mean: number;
}

/** One stream of the pair. */
export interface AggregatedStream {
  readonly series: BacktestSeries;
  readonly means: readonly CycleMean[];
  /** Its baseline at the end of the cycle in which a second stream began; of the first stream alone. */
  readonly begun: ArrayBuffer | undefined;
}

export interface AggregateTrackOptions extends Pick<WatchdogSettings, "direction" | "zThreshold"> {
  readonly offsetMs: OffsetMs;
  readonly intervalMs: number;
  readonly deployments: readonly number[];
  readonly streamsAt: (nowMs: number) => number;
  readonly knownDays: KnownDays | undefined;
}

/** Findings of each cycle, in order; streams by the order of their first values. */
export function* aggregateFrames(
  streams: readonly AggregatedStream[],
  aggregation: number,
  { direction, zThreshold, offsetMs, intervalMs, deployments, streamsAt, knownDays }: AggregateTrackOptions,
): Generator<{ readonly frame: EpisodeFrame | ConfirmedPair; readonly atMs: number }> {
  const [first, second] = streams;
  if (first === undefined || second === undefined || second.means.length === 0) return;
  const aggregate = new PairAggregate(aggregation);
  const name = aggregateName(first.series.name, aggregation);
  let count = 0;
  const findings = new PairFindings(name, direction, offsetMs, { state: first.begun, streams: () => count });
  const next = streams.map(() => 0);
  const lastMs = Math.max(...streams.map(({ means }) => means.at(-1)?.cycleMs ?? 0));
  let newestMs = 0;
  // The first stream takes part from the cycle on that comes after the second has shown.
  const beginMs = (second.means[0] as CycleMean).cycleMs;
  for (let nowMs = Math.min(...streams.map(({ means }) => means[0]?.cycleMs ?? lastMs)); nowMs <= lastMs; nowMs += intervalMs) {
    for (const [stream, { means }] of streams.entries()) {
      const mean = means[next[stream] as number];
      if (mean?.cycleMs !== nowMs) continue;
      next[stream] = (next[stream] as number) + 1;
      if (nowMs > beginMs || (nowMs === beginMs && stream > 0)) aggregate.take(stream, mean.timeMs, mean.mean);
    }
    if (nowMs < beginMs) continue;
    const value = aggregate.cycle(nowMs);
    if (value === undefined || value.timeMs <= newestMs) continue;
    newestMs = value.timeMs;
    count = value.streams;
    const deployedMs = deployments.findLast((atMs) => atMs <= nowMs) ?? 0;
    const { changedMs } = aggregate;
    findings.observe(value.timeMs, value.value, { deployedMs, streams: streamsAt(nowMs), zThreshold, knownDays, changedMs });
    for (const frame of findings.reported(nowMs)) yield { frame, atMs: nowMs };
  }
}
