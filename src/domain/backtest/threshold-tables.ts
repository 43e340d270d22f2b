// Threshold tables by threshold: about 20 ms each, made once.
import { BoundedMap } from "../../core/base/bounded-map.ts";
import { THRESHOLDS_MAX } from "../detection/threshold-profiles.ts";
import { fillThresholdTables, THRESHOLD_TABLE_VALUES } from "../detection/thresholds.ts";

export class ThresholdTables {
  static readonly #shared = new Map<number, ThresholdTables>();
  readonly #samplesMin: number;
  readonly #tables = new BoundedMap<number, Float64Array>(2 * THRESHOLDS_MAX);

  constructor(samplesMin: number) {
    this.#samplesMin = samplesMin;
  }

  /** Those of all who ask for such a WATCHDOG_MIN_SAMPLES, of which a process has one. */
  static shared(samplesMin: number): ThresholdTables {
    const shared = ThresholdTables.#shared.get(samplesMin) ?? new ThresholdTables(samplesMin);
    ThresholdTables.#shared.set(samplesMin, shared);
    return shared;
  }

  of(threshold: number): Float64Array {
    return this.#tables.obtain(threshold, () => {
      const filled = new Float64Array(THRESHOLD_TABLE_VALUES);
      fillThresholdTables(filled, threshold, this.#samplesMin);
      return filled;
    });
  }
}
