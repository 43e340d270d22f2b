// Threshold tables by threshold: about 20 ms each, made once; and the threshold of a service at the age that it has.
import { BoundedMap } from "../../core/collections/bounded-map.ts";
import { MATURITIES, maturityOf, thresholdFor } from "../detection/gates/baseline-maturity.ts";
import type { StreamOracle } from "../detection/stream-oracle.ts";
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

/** Since when a service is known, what is judged by where it is mature, and the tables of lower thresholds. */
export interface KnownAge {
  readonly sinceMs: number;
  readonly threshold: number;
  readonly tables: ThresholdTables;
}

/** The threshold by which a series is judged at the age that its service has then (rule 1.1.13). */
export class AgeingThreshold {
  readonly #of: KnownAge;
  readonly #oracle: Pick<StreamOracle, "judgeBy">;
  #current: number;

  /** The oracle is one that has the tables of a mature service. */
  constructor(of: KnownAge, oracle: Pick<StreamOracle, "judgeBy">) {
    this.#of = of;
    this.#oracle = oracle;
    this.#current = of.threshold;
  }

  /** The threshold at a time, by which the oracle judges from there on; times come in order. */
  at(timeMs: number): number {
    const { sinceMs, threshold, tables } = this.#of;
    const current = thresholdFor(maturityOf(sinceMs, timeMs), threshold);
    if (current !== this.#current) this.#oracle.judgeBy(tables.of(current));
    this.#current = current;
    return current;
  }
}
