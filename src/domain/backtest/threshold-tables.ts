// Threshold tables by threshold: about 20 ms each, made once.
import { BoundedMap } from "../../core/collections/bounded-map.ts";
import { MATURITIES } from "../detection/gates/baseline-maturity.ts";
import { THRESHOLDS_MAX } from "../detection/threshold-profiles.ts";
import { type DeclarationRule, fillThresholdTables, THRESHOLD_TABLE_VALUES } from "../detection/thresholds.ts";

export class ThresholdTables {
  static readonly #shared = new Map<string, ThresholdTables>();
  readonly #rule: DeclarationRule;
  readonly #tables = new BoundedMap<number, Float64Array>(2 * MATURITIES.length * THRESHOLDS_MAX);

  constructor(rule: DeclarationRule) {
    this.#rule = rule;
  }

  /** Those of all who ask by such a rule, of which a process has one. */
  static shared({ samplesMin, confirmation = true }: DeclarationRule): ThresholdTables {
    const key = `${samplesMin} ${confirmation}`;
    const shared = ThresholdTables.#shared.get(key) ?? new ThresholdTables({ samplesMin, confirmation });
    ThresholdTables.#shared.set(key, shared);
    return shared;
  }

  of(threshold: number): Float64Array {
    return this.#tables.obtain(threshold, () => {
      const filled = new Float64Array(THRESHOLD_TABLE_VALUES);
      fillThresholdTables(filled, threshold, this.#rule);
      return filled;
    });
  }
}
