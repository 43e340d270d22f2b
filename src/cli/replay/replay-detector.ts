// The detection path of a replayed file: one pair, or one service with its metrics.
import { REPLAY_HISTORY_ROWS_MAX } from "../../core/config/limits.ts";
import { seededRandom } from "../../domain/detection/multivariate/seeded-random.ts";
import { ServiceDetector } from "../../domain/detection/multivariate/service-detector.ts";
import { symmetricEigen } from "../../domain/detection/multivariate/symmetric-eigen.ts";
import { TrainingHistory } from "../../domain/detection/multivariate/training-history.ts";
import { PairDetector } from "../../domain/detection/pair/pair-detector.ts";
import type { CsvRow } from "./csv-rows.ts";

/** Equal files give equal scores. */
const MODEL_SEED = 1;

/** Score and state of the alert after a row. */
export interface RowVerdict {
  readonly score: number;
  readonly isFiring: boolean;
}

/** Takes the rows of one file in order. One that is late changes nothing: a server stores late samples and does not judge them. */
export interface ReplayDetector {
  /** A row of normal history. */
  learn(row: CsvRow): void;
  observe(row: CsvRow): RowVerdict;
}

/** The detector for a file with so many metrics. */
export function detectorFor(metrics: number): ReplayDetector {
  return metrics === 1 ? new PairReplay() : new ServiceReplay(metrics);
}

class PairReplay implements ReplayDetector {
  readonly #pair = new PairDetector();
  #score = 0;

  learn(row: CsvRow): void {
    this.observe(row);
  }

  observe({ isLate, timeMs, values }: CsvRow): RowVerdict {
    const value = values[0] as number;
    if (!isLate && !Number.isNaN(value)) this.#score = this.#pair.observe(timeMs, value).score;
    return { score: this.#score, isFiring: this.#pair.isFiring };
  }
}

class ServiceReplay implements ReplayDetector {
  readonly #service: ServiceDetector;
  readonly #history: TrainingHistory;
  /** Newest value of each metric: what stands for a missing one. */
  readonly #values: Float64Array;
  #score = 0;

  constructor(metrics: number) {
    this.#service = new ServiceDetector(metrics);
    this.#history = new TrainingHistory({ width: metrics, rowsMax: REPLAY_HISTORY_ROWS_MAX });
    this.#values = new Float64Array(metrics);
  }

  learn({ isLate, timeMs, values }: CsvRow): void {
    if (isLate) return;
    this.#fill(values);
    this.#history.add(timeMs, this.#values);
  }

  observe({ isLate, timeMs, values }: CsvRow): RowVerdict {
    if (isLate) return { score: this.#score, isFiring: this.#service.isFiring };
    if (this.#history.isDue) this.#service.train(this.#history.take(), seededRandom(MODEL_SEED), symmetricEigen);
    this.#fill(values);
    this.#score = this.#service.observe(timeMs, this.#values).score;
    this.#history.add(timeMs, this.#values);
    return { score: this.#score, isFiring: this.#service.isFiring };
  }

  #fill(values: Float64Array): void {
    for (let j = 0; j < values.length; j++) if (!Number.isNaN(values[j])) this.#values[j] = values[j] as number;
  }
}
