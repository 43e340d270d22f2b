// When a service's model is trained on the way through history, and what each training knows of the ones before, as the coordinator does it live
// (modules/watchdog/training).
import { lowerBound } from "../../../core/collections/sorted-search.ts";
import { SERVICE_MODEL_AGE_MS_MAX, SERVICE_VECTORS_MAX, SERVICE_VECTORS_MIN } from "../../../core/config/limits.ts";
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import { servicePage } from "../../../core/protocol/service-rows.ts";
import type { ServiceHistory, StreamSamples } from "../../detection/multivariate/service-rows.ts";
import type { TrainingResult } from "../../detection/multivariate/service-training.ts";
import type { Stretch } from "../../detection/multivariate/strange-stretches.ts";
import { trainingRowsBefore } from "../../detection/multivariate/training-rows-coding.ts";
import type { BacktestFacts, BacktestOptions } from "../history.ts";
import type { ServiceTrack } from "./service-track.ts";

export interface ServiceLearningOptions extends Pick<BacktestOptions, "intervalMs" | "historyMs"> {
  /** The service's (core/protocol/service-rows.ts). */
  readonly hash: string;
  readonly train: NonNullable<BacktestFacts["train"]>;
  /** Times that people have called an incident, of later ones too. */
  readonly incidents?: readonly Stretch[];
  /** Vectors that trainings have kept, of later times too. */
  readonly retained?: Uint8Array | undefined;
  /** False once there were as many trainings as may be. */
  mayTrain(): boolean;
}

export class ServiceLearning {
  readonly #history: ServiceHistory;
  readonly #options: ServiceLearningOptions;
  readonly #historyMs: number;
  #rows: Uint8Array | undefined;
  #model: Uint8Array<ArrayBuffer> | undefined;
  #dueMs = 0;
  /** When an episode of the joint detector was open. */
  readonly #episodes: Stretch[] = [];

  constructor(history: ServiceHistory, options: ServiceLearningOptions) {
    this.#history = history;
    this.#options = options;
    this.#historyMs = options.historyMs ?? Number.POSITIVE_INFINITY;
  }

  /** Has vectors kept of what is older than one training looks back on, as trainings before the beginning would have. */
  async learnBefore(firstMs: number): Promise<void> {
    this.#dueMs = firstMs;
    const { retained } = this.#options;
    this.#rows = retained && trainingRowsBefore(retained, this.#history.aggregations.length, firstMs);
    const oldestMs = this.#history.streams.reduce((least, { times }) => Math.min(least, times[0] ?? firstMs), firstMs);
    for (let atMs = oldestMs + this.#historyMs; atMs < firstMs && this.#options.mayTrain(); atMs += this.#historyMs)
      await this.#train(atMs);
  }

  /** Trains where a model is due, and gives it to the track. */
  async visit(atMs: number, track: ServiceTrack): Promise<void> {
    if (atMs < this.#dueMs) return;
    const { intervalMs, mayTrain } = this.#options;
    if (!mayTrain()) {
      this.#dueMs = Number.POSITIVE_INFINITY;
      return;
    }
    const { model, state, rows, isRefused = false } = await this.#train(atMs);
    if (model !== null && state !== null) track.take(model, state, { rows, trainedMs: atMs });
    const isLearning = model === null && !isRefused;
    this.#dueMs = atMs + (isLearning ? (SERVICE_VECTORS_MIN - rows) * intervalMs : Math.min(SERVICE_MODEL_AGE_MS_MAX, rows * intervalMs));
  }

  /** Takes a transition of the joint detector's episode: nothing is learned of its time. */
  note({ transition, startedAtMs, observedAtMs }: EpisodeFrame): void {
    if (transition === "open") this.#episodes.push([startedAtMs, Number.POSITIVE_INFINITY]);
    else if (transition !== "update" && this.#episodes.length > 0) this.#episodes.splice(-1, 1, [startedAtMs, observedAtMs]);
  }

  async #train(atMs: number): Promise<TrainingResult> {
    const { intervalMs, hash, train, incidents = [] } = this.#options;
    const fromMs = atMs - this.#historyMs;
    const known = [...this.#episodes, ...incidents].filter(([begin, end]) => end >= fromMs && begin < atMs);
    const excluded = known.map(([begin, end]): Stretch => [begin, Math.min(end, atMs)]);
    const result = await train({
      ...newestOf(this.#history, fromMs),
      toMs: atMs,
      intervalMs,
      rowsMax: SERVICE_VECTORS_MAX,
      seed: servicePage(hash),
      past: { rows: this.#rows, model: this.#model, excluded },
    });
    this.#rows = result.retained ?? this.#rows;
    this.#model = result.model ?? this.#model;
    return result;
  }
}

/** The history with its samples from `fromMs` on. */
function newestOf(history: ServiceHistory, fromMs: number): ServiceHistory {
  const newest = ({ times, values }: StreamSamples): StreamSamples => {
    const from = lowerBound(times, fromMs);
    return { times: times.subarray(from), values: values.subarray(from) };
  };
  return { ...history, streams: history.streams.map(newest) };
}
