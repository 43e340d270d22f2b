// The streams of each pair of a backtest: the order in which they are gone over, what instances inherit, and what the streams of one pair come to together.
import { groupBy } from "../../core/collections/grouping.ts";
import { FLAG_COUNTER } from "../../core/layout/stream-record.ts";
import { aggregationOf } from "../detection/multivariate/service-vector.ts";
import { isBucketSeries } from "../series/classification.ts";
import type { BacktestSeries } from "./history.ts";
import type { PlacedSeries } from "./timed-frames.ts";
import type { AggregatedStream, CycleMean } from "./tracks/aggregate-track.ts";
import { InstanceLineage } from "./tracks/instance-lineage.ts";
import type { PairTrack } from "./tracks/pair-track.ts";

/** A series, and its index among all. */
export interface OrderedSeries {
  readonly series: BacktestSeries;
  readonly index: number;
}

/** All of them, those that begin earlier first. */
export function inOrderOfBeginning(all: readonly PlacedSeries[]): OrderedSeries[] {
  const first = ({ series }: OrderedSeries) => series.times[0] ?? Number.POSITIVE_INFINITY;
  return all.map(({ series }, index) => ({ series, index: index })).sort((a, b) => first(a) - first(b) || a.index - b.index);
}

/** A pair with several streams. */
export interface StreamGroup {
  readonly members: readonly OrderedSeries[];
  readonly aggregation: number;
}

export function groupsOf(ordered: readonly OrderedSeries[]): StreamGroup[] {
  const judged = ordered.filter(({ series }) => series.times.length > 0 && !isBucketSeries(series.name, series.flags));
  const pairs = groupBy(judged, ({ series: { name } }) => JSON.stringify([name.environment, name.serviceId, name.metricName]));
  return [...pairs.values()].flatMap((members) => {
    const [first] = members;
    if (first === undefined || members.length < 2) return [];
    const { name, flags } = first.series;
    return [{ members, aggregation: aggregationOf((flags & FLAG_COUNTER) !== 0, name.metricName, name.attributes) }];
  });
}

/** Memory of one run for the streams that it has gone over, for those that come after and for what they come to together. */
export class PairRun {
  readonly #lineage: InstanceLineage;
  /** Means by cycle, of members of groups. */
  readonly #means = new Map<BacktestSeries, CycleMean[]>();
  /** Time at which the second of each group begins, and the first's state then. */
  readonly #secondMs = new Map<BacktestSeries, number>();
  readonly #begun = new Map<BacktestSeries, ArrayBuffer>();

  constructor(all: readonly BacktestSeries[], groups: readonly StreamGroup[], cycleOf: (timeMs: number) => number) {
    this.#lineage = new InstanceLineage(all, cycleOf);
    for (const { members } of groups) {
      for (const { series } of members) this.#means.set(series, []);
      const [first, second] = members as [OrderedSeries, OrderedSeries];
      this.#secondMs.set(first.series, cycleOf(second.series.times[0] as number));
    }
  }

  inherited(series: BacktestSeries, cycleMs: number): ArrayBuffer | undefined {
    return this.#lineage.inherited(series, cycleMs);
  }

  /** Takes what a cycle's observations come to; undefined where nobody asks. */
  fed(series: BacktestSeries): ((mean: CycleMean) => void) | undefined {
    const means = this.#means.get(series);
    return means && ((mean) => void means.push(mean));
  }

  /** The track has seen all cycles from one on and before another. */
  covered(series: BacktestSeries, track: PairTrack, fromMs: number, beforeMs: number): void {
    this.#lineage.offer(series, fromMs, beforeMs, () => track.offer());
    const secondMs = this.#secondMs.get(series);
    if (secondMs !== undefined && secondMs >= fromMs && secondMs < beforeMs) this.#begun.set(series, track.offer().copy());
  }

  streamsOf({ members }: StreamGroup): AggregatedStream[] {
    return members.map(({ series }) => ({ series, means: this.#means.get(series) ?? [], begun: this.#begun.get(series) }));
  }
}
