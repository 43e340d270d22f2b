// The joint models of the simulation's services: each learns the minutes that warm up, by the function that trains live ones, and judges those that follow.

import type { EpisodeFrame, StreamName } from "../../../src/core/protocol/coordinator-frame.ts";
import { ServiceTrack } from "../../../src/domain/backtest/tracks/service-track.ts";
import { trainService } from "../../../src/domain/detection/multivariate/service-training.ts";

const INTERVAL_MS = 60_000;
const MODEL_VECTORS_MAX = 4_320;

/** One service: `learn` until `train`, then `judge`. */
export class ServiceLayer {
  readonly #track: ServiceTrack;
  readonly #times: number[] = [];
  readonly #columns: number[][];
  readonly #seed: number;

  constructor(name: StreamName, metrics: readonly string[], seed: number) {
    this.#track = new ServiceTrack({ ...name, hash: name.serviceId }, metrics);
    this.#columns = metrics.map(() => []);
    this.#seed = seed;
  }

  learn(timeMs: number, values: Float64Array): void {
    this.#times.push(timeMs);
    for (const [m, column] of this.#columns.entries()) column.push(values[m] as number);
  }

  train(toMs: number): void {
    const times = Float64Array.from(this.#times);
    const { model, state, rows } = trainService({
      streams: this.#columns.map((column) => ({ times, values: Float64Array.from(column) })),
      starts: Uint16Array.from({ length: this.#columns.length + 1 }, (_, i) => i),
      aggregations: new Uint8Array(this.#columns.length).fill(1),
      toMs,
      intervalMs: INTERVAL_MS,
      rowsMax: MODEL_VECTORS_MAX,
      seed: this.#seed,
    });
    if (model === null || state === null) throw new Error(`${rows} minutes are too few for a model`);
    this.#track.take(model, state, { rows, trainedMs: toMs });
    for (const column of this.#columns) column.length = 0;
    this.#times.length = 0;
  }

  judge(timeMs: number, values: Float64Array): EpisodeFrame | undefined {
    return this.#track.observe(timeMs, timeMs, values);
  }
}
