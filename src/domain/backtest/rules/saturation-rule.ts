// Series that run full, from their stored samples (actors/engine/watchdog/passes does so live): each bounded stream, the streams of an instance and those of a
// pair together.
import { hash128 } from "../../../core/hashing/hash128.ts";
import { FLAG_COUNTER } from "../../../core/layout/stream-record.ts";
import type { EpisodeFrame, StreamName } from "../../../core/protocol/coordinator-frame.ts";
import { MINUTE_MS } from "../../../core/time/durations.ts";
import type { Anomaly } from "../../anomaly/anomaly.ts";
import { baseNameOf } from "../../distribution/derived-values.ts";
import { kindOfName } from "../../saturation/bounded-name.ts";
import { DETECTOR_SATURATION } from "../../saturation/saturation-finding.ts";
import {
  type FoundFinding,
  frameOfFire,
  nextReport,
  type ReportedFinding,
  SATURATION_EVERY_CYCLES,
  transitionOf,
} from "../../saturation/saturation-fire.ts";
import { SaturationSeries } from "../../saturation/saturation-series.ts";
import { type SaturationUnit, saturationUnits } from "../../saturation/saturation-units.ts";
import type { BacktestFacts, BacktestSeries } from "../history.ts";
import { servicesOf } from "../service-frames.ts";
import type { PlacedSeries } from "../timed-frames.ts";
import type { BacktestRule, RuleCycle } from "./rule.ts";

/** One evaluation of a series that does not climb. */
export const SATURATION_US = 70;

interface BoundedSeries {
  readonly name: StreamName;
  readonly hash: string;
  readonly series: BacktestSeries;
}

interface WatchedUnit {
  readonly unit: SaturationUnit<BoundedSeries>;
  readonly series: SaturationSeries;
  /** Number of values of each stream that were given. */
  readonly fed: Uint32Array;
  reported: ReportedFinding | undefined;
}

/** Series that the rule looks at: those that a name or a declaration bounds, and no counters. */
export function boundedUnits(
  all: readonly PlacedSeries[],
  { limitFor }: Pick<BacktestFacts, "limitFor">,
): Array<SaturationUnit<BoundedSeries>> {
  const isBounded = ({ series: { name, flags } }: PlacedSeries) =>
    (flags & FLAG_COUNTER) === 0 &&
    (kindOfName(name.metricName) !== null || limitFor(name.tenant, name.serviceId, name.metricName) !== null);
  const units = servicesOf(all.filter(isBounded)).map((members) =>
    saturationUnits(members.map(({ series, key }) => ({ name: series.name, hash: hash128(key), series }))),
  );
  return units.flat();
}

export class SaturationRule implements BacktestRule {
  readonly costUs: number;
  readonly #facts: BacktestFacts;
  readonly #units: readonly WatchedUnit[];

  constructor(units: ReadonlyArray<SaturationUnit<BoundedSeries>>, facts: BacktestFacts) {
    this.#facts = facts;
    this.#units = units.map((unit) => {
      const { tenant, serviceId, metricName } = unit.name;
      const limit = facts.limitFor(tenant, serviceId, metricName);
      const series = new SaturationSeries({ metricName, unit: facts.unitOf(tenant, metricName), instance: unit.instance, limit });
      return { unit, series, fed: new Uint32Array(unit.streams.length), reported: undefined };
    });
    this.costUs = (SATURATION_US * units.length) / SATURATION_EVERY_CYCLES;
  }

  cycle({ nowMs, number, openAnomalies }: RuleCycle): readonly EpisodeFrame[] {
    if (number % SATURATION_EVERY_CYCLES !== 0) return [];
    const confirming = confirmingMetrics(openAnomalies());
    const [ended, reported]: [EpisodeFrame[], EpisodeFrame[]] = [[], []];
    for (const watched of this.#units) {
      const sampleMs = feed(watched, nowMs);
      // Without a new value nothing is found, and nothing is over.
      if (sampleMs === undefined) continue;
      const { tenant, environment, serviceId, metricName } = watched.unit.name;
      const metrics = confirming.get(JSON.stringify([tenant, environment, serviceId]));
      const { finding } = watched.series.evaluate(nowMs, {
        limit: this.#facts.limitFor(tenant, serviceId, metricName),
        corroborated: metrics !== undefined && metrics.size > (metrics.has(metricName) ? 1 : 0),
      });
      if (finding === null) {
        if (watched.reported !== undefined) ended.push(frameOfFire(watched.unit.name, watched.reported, "close"));
        watched.reported = undefined;
      } else reported.push(...report(watched, { finding, sampleMs }, nowMs));
    }
    return [...ended, ...reported];
  }
}

function report(watched: WatchedUnit, found: FoundFinding, nowMs: number): EpisodeFrame[] {
  const before = watched.reported;
  const next = nextReport(before, watched.unit.key, found, nowMs);
  watched.reported = next;
  const transition = transitionOf(before, next);
  return transition === undefined ? [] : [frameOfFire(watched.unit.name, next, transition)];
}

/** Values of one stream as they are, those of several as means of each minute; the time of the newest, undefined where there is none. */
function feed({ unit, series, fed }: WatchedUnit, nowMs: number): number | undefined {
  let newestMs = Number.NEGATIVE_INFINITY;
  const sums = new Map<number, { sum: number; count: number }>();
  for (const [index, { series: of }] of unit.streams.entries()) {
    let at = fed[index] as number;
    for (; at < of.times.length && (of.times[at] as number) <= nowMs; at++) {
      const [time, value] = [of.times[at] as number, of.values[at] as number];
      newestMs = Math.max(newestMs, time);
      if (unit.streams.length === 1) series.observe(time, value);
      else if (Number.isFinite(value)) {
        const minute = Math.floor(time / MINUTE_MS);
        const mean = sums.get(minute) ?? { sum: 0, count: 0 };
        sums.set(minute, mean);
        mean.sum += value;
        mean.count++;
      }
    }
    fed[index] = at;
  }
  for (const [minute, { sum, count }] of [...sums].sort(([a], [b]) => a - b)) series.observe(minute * MINUTE_MS, sum / count);
  return Number.isFinite(newestMs) ? newestMs : undefined;
}

/** Metrics of other detectors' open anomalies, by service and environment. */
function confirmingMetrics(anomalies: Iterable<Anomaly>): Map<string, Set<string>> {
  const confirming = new Map<string, Set<string>>();
  for (const { tenant, environment, serviceId, metricName, detector } of anomalies) {
    if (detector === DETECTOR_SATURATION) continue;
    const key = JSON.stringify([tenant, environment, serviceId]);
    confirming.set(key, (confirming.get(key) ?? new Set()).add(baseNameOf(metricName)));
  }
  return confirming;
}
