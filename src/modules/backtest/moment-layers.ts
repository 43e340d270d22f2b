/**
 * What each layer of detection had to say of a moment of a pair: verdicts that led to nothing are not written down, so they are made again from stored samples, as a
 * backtest makes them. Bounded: the newest LEDGER_HISTORY_SAMPLES_MAX samples of a stream, and for the model of its service LEDGER_SERVICE_SAMPLES_MAX of all.
 */

import { CYCLE_MS } from "../../core/config/backtest-limits.ts";
import { LEDGER_HISTORY_SAMPLES_MAX, LEDGER_SERVICE_SAMPLES_MAX, LEDGER_SERVICE_STREAMS_MAX } from "../../core/config/limits.ts";
import type { SeriesSummary } from "../../core/protocol/engine-control.ts";
import { DAY_MS } from "../../core/time/durations.ts";
import type { BacktestSeries } from "../../domain/backtest/history.ts";
import {
  type LayerMoment,
  MODEL_AGE_MS,
  type MomentContext,
  pairMoment,
  saturationMoment,
  serviceMoment,
  skippedMoment,
} from "../../domain/backtest/layer-moment.ts";
import type { PlacedSeries } from "../../domain/backtest/timed-frames.ts";
import { WorkSlices } from "../../domain/backtest/work-slices.ts";
import { writeTrainingInput } from "../../domain/detection/multivariate/training-input.ts";
import { TimeZoneHours } from "../../domain/detection/seasonal/time-zone-hours.ts";
import { flagsOfPoint } from "../../domain/series/classification.ts";
import { canonicalAttributes, identityText } from "../../domain/series/stream-identity.ts";
import { askSeries, askSeriesData } from "../series/series-handler.ts";
import { readSamples } from "../series/stored-samples.ts";
import type { MomentsContext } from "./backtest-context.ts";
import { deploymentsOf } from "./backtest-facts.ts";

/** A model learns a day: enough vectors at a cycle of a minute. */
const MODEL_HISTORY_MS = DAY_MS;
/** Deployments before the oldest sample say nothing any more. */
const DEPLOYMENTS_MS = 30 * DAY_MS;

/** The layers of moments of one service. */
export class MomentLayers {
  readonly #context: MomentsContext;
  readonly #moment: MomentContext;
  readonly #atMs: number;

  private constructor(context: MomentsContext, moment: MomentContext, atMs: number) {
    this.#context = context;
    this.#moment = moment;
    this.#atMs = atMs;
  }

  static async open(context: MomentsContext, tenant: string, serviceId: string, atMs: number): Promise<MomentLayers> {
    const { state, options, train } = context;
    const deployments = await deploymentsOf(context, { tenant, serviceId, sinceMs: atMs - DEPLOYMENTS_MS, untilMs: atMs + 1 });
    const { limits } = state.configured.saturation;
    const moment: MomentContext = {
      intervalMs: options.watchdogIntervalMs ?? CYCLE_MS,
      offsetMs: new TimeZoneHours(options.timeZone ?? "UTC").offsetMs,
      facts: {
        deployments: (_tenant, service) => deployments.get(service) ?? [],
        unitOf: (of, metricName) => state.metadata.ofSeries(of, metricName)?.unit ?? null,
        limitFor: (of, service, metricName) => {
          const limit = limits.limitFor(of, service, metricName);
          return limit === undefined ? null : { value: limit.limitValue, unit: limit.unit };
        },
        train: train === undefined ? null : (job) => train(writeTrainingInput(job)),
      },
      slices: new WorkSlices(() => context.yieldToLoop()),
    };
    return new MomentLayers(context, moment, atMs);
  }

  /** Samples of a stream at or before the moment, the newest LEDGER_HISTORY_SAMPLES_MAX. */
  async read(
    summary: SeriesSummary,
    samplesMax = LEDGER_HISTORY_SAMPLES_MAX,
    oldestMs = Number.NEGATIVE_INFINITY,
  ): Promise<BacktestSeries> {
    const { tenant, serviceId, metricName, environment, attributes } = summary;
    const query = { tenant, serviceId, metricName, environment, attributes: canonicalAttributes(attributes) };
    const answer = await askSeriesData(this.#context, query);
    const request = { fromMs: oldestMs, toMs: this.#atMs + 1, samplesMax, contextMax: 0, oldestMs };
    const { times, values } = await readSamples(this.#context, answer, request);
    const from = Math.max(0, times.length - samplesMax);
    return {
      name: { tenant, environment, serviceId, metricName, attributes },
      flags: flagsOfPoint(metricName, summary.kind === "counter"),
      times: times.subarray(from),
      values: values.subarray(from),
    };
  }

  /** The layers that judge streams. */
  async ofStream(series: BacktestSeries): Promise<LayerMoment[]> {
    const { tenant, serviceId, metricName } = series.name;
    const { state, options } = this.#context;
    const settings = state.configured.watchdog.settingsOf(tenant, serviceId, metricName);
    return [
      await pairMoment(series, this.#atMs, settings, this.#moment),
      options.saturationEnabled === false
        ? skippedMoment("saturation", "switched_off")
        : await saturationMoment(series, this.#atMs, this.#moment),
    ];
  }

  /** The model of a service in one environment. */
  async ofService(tenant: string, serviceId: string, environment: string): Promise<LayerMoment> {
    const { state } = this.#context;
    const limit = LEDGER_SERVICE_STREAMS_MAX;
    const { series, total } = await askSeries(this.#context, { tenant, serviceId, metricName: null, environment, after: null, limit });
    if (total > limit) return skippedMoment("isolation_forest", "too_many_streams");
    const members: PlacedSeries[] = [];
    let samples = 0;
    for (const summary of series) {
      const read = await this.read(summary, LEDGER_SERVICE_SAMPLES_MAX, this.#atMs - MODEL_AGE_MS - MODEL_HISTORY_MS);
      samples += read.times.length;
      if (samples > LEDGER_SERVICE_SAMPLES_MAX) return skippedMoment("isolation_forest", "too_many_samples");
      if (read.times.length > 0) members.push({ series: read, key: identityText(read.name) });
    }
    members.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    if (members.length === 0) return skippedMoment("isolation_forest", "no_sample");
    const { watchdog } = state.configured;
    return serviceMoment(members, this.#atMs, { settingsOf: (...of) => watchdog.settingsOf(...of) }, this.#moment);
  }
}
