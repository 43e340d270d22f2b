// One series under layer 1, as transitions of its episodes: the kernel's slow twin over values as they are stored (of counters what was added per interval).
import { hash128 } from "../../../core/hashing/hash128.ts";
import { EVENT_CLOSE, EVENT_FLAG_CONSTANT, EVENT_OPEN, EVENT_UPDATE } from "../../../core/layout/kernel-event.ts";
import { FLAG_COUNTER, FLAG_OPERATION, FLAG_PERCENT, WINDOW_MAX } from "../../../core/layout/stream-record.ts";
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import { decodeEpisode, encodeEpisode } from "../../anomaly/episode-codec.ts";
import { type EpisodeContext, episodeFrame } from "../../anomaly/episode-frame.ts";
import type { OracleEvent } from "../../detection/episode-oracle.ts";
import { isIrregular } from "../../detection/rolling/usual-deltas.ts";
import { StreamOracle } from "../../detection/stream-oracle.ts";
import type { DeclarationRule } from "../../detection/thresholds.ts";
import type { WatchdogSettings } from "../../detection/watchdog-settings.ts";
import type { ShardEvent } from "../../kernel/shard-events.ts";
import { isOfCounts } from "../../series/classification.ts";
import { identityText } from "../../series/stream-identity.ts";
import type { BacktestSeries } from "../history.ts";
import { AgeingThreshold, type ThresholdTables } from "../threshold-tables.ts";

export interface WindowOptions extends DeclarationRule {
  /** WATCHDOG_WINDOW. */
  readonly window: number;
  readonly threshold: number;
  readonly direction: WatchdogSettings["direction"];
  /** As filled by fillThresholdTables() for the threshold. */
  readonly tables: Float64Array;
  /** Of a service that may be young: when it was first seen, and the tables of lower thresholds (rule 1.1.13). */
  readonly young?: { readonly firstSeenMs: number; readonly tables: ThresholdTables };
}

const REPORTED: ReadonlySet<number> = new Set([EVENT_OPEN, EVENT_UPDATE, EVENT_CLOSE]);

export class WindowTrack {
  readonly #series: BacktestSeries;
  readonly #options: WindowOptions;
  readonly #oracle: StreamOracle;
  readonly #hash: Uint8Array;
  readonly #ageing: AgeingThreshold | undefined;
  #threshold: number;

  constructor(series: BacktestSeries, options: WindowOptions) {
    this.#series = series;
    this.#options = options;
    this.#threshold = options.threshold;
    const operation = (series.flags & FLAG_OPERATION) !== 0;
    this.#oracle = new StreamOracle({ window: options.window, tables: options.tables, counter: false, operation });
    const { threshold, young } = options;
    this.#ageing = young && new AgeingThreshold({ sinceMs: young.firstSeenMs, threshold, tables: young.tables }, this.#oracle);
    const { tenant, environment, serviceId, metricName, attributes } = series.name;
    this.#hash = Buffer.from(hash128(JSON.stringify([tenant, environment, serviceId, metricName, attributes])), "hex");
  }

  /** Takes the value at a place; places come in order. `longBaseline` tells what that says of it at once. */
  observe(index: number, longBaseline?: EpisodeContext["longBaseline"]): EpisodeFrame[] {
    const { times, restarts } = this.#series;
    this.#threshold = this.#ageing?.at(times[index] as number) ?? this.#threshold;
    if (restarts?.has(times[index] as number)) this.#oracle.restart(times[index] as number);
    const events = this.#oracle.apply(times[index] as number, this.#valueAt(index));
    return events.filter(({ kind }) => REPORTED.has(kind)).flatMap((event) => this.#frame(event, index, longBaseline) ?? []);
  }

  /** As it is scored: a delta of a counter counts for the time that it took. */
  #valueAt(index: number): number {
    const { times, values, flags } = this.#series;
    const value = values[index] as number;
    if ((flags & FLAG_COUNTER) === 0 || index === 0) return value;
    const elapsedMs = (times[index] as number) - (times[index - 1] as number);
    const usualMs = this.#oracle.usualInterval;
    return isIrregular(elapsedMs, usualMs) ? value * (usualMs / elapsedMs) : value;
  }

  #frame(event: OracleEvent, index: number, longBaseline: EpisodeContext["longBaseline"]): EpisodeFrame | undefined {
    const { window, samplesMin, confirmation, direction } = this.#options;
    const { name, flags, times, values } = this.#series;
    const first = Math.max(0, index - Math.min(window, WINDOW_MAX));
    const ageSeconds = index > first ? ((times[index] as number) - (times[first] as number)) / 1000 : 0;
    const packed = episodeFrame(shardEvent(event), {
      identity: Buffer.from(identityText(name)),
      hash: this.#hash,
      streamFlags: flags & (FLAG_OPERATION | FLAG_PERCENT),
      isOfCounts: () => isOfCounts(name.metricName, flags),
      threshold: this.#threshold,
      direction: () => direction,
      samplesMin,
      confirmation,
      baseline: () => ({ values: values.slice(first, index), ageSeconds }),
      hashText: (text) => Buffer.from(hash128(text), "hex"),
      ...(longBaseline !== undefined && { longBaseline }),
    });
    return packed && decodeEpisode(encodeEpisode(packed));
  }
}

/** Event that the kernel would have reported. */
function shardEvent({ kind, time, value, mean, sd, ratio, count, flags, start, peak }: OracleEvent): ShardEvent {
  const rawSd = (flags & EVENT_FLAG_CONSTANT) !== 0 ? 0 : sd;
  return { kind, slot: 0, timeMs: time, value, mean, sd, rawSd, ratio, count, flags, startMs: start, peak, arrivalMs: 0 };
}
