// Rules on how full a series is, whatever its slope (rule 1.1.11): a headroom breach by one that is usually lower, and one that always
// runs high and now takes half of the room it had left. Levels are shares of capacity, 0..1 and above.
import type { Tier } from "../detection/anomaly-score.ts";
import { above, atLeast, atMost, type GateResult, holds } from "../detection/gates/gate-result.ts";

/** Share of the capacity from which on a breach begins. */
export const HEADROOM_FLOOR = 0.92;
/** A breach that holds ends below this. */
export const HEADROOM_CLEAR = 0.9;
const RESIDENT_BASELINE = 0.85;
const RESIDENT_CONSUMED_MIN = 0.5;

export interface LevelInput {
  /** Share of capacity in use now, and usually. */
  readonly level: number;
  readonly baseline: number;
  /** An independent anomaly of the same service within the short window of the ensemble. */
  readonly corroborated: boolean;
  /** Whether a breach held at the evaluation before. */
  readonly wasBreached: boolean;
}

export interface LevelFinding {
  readonly rule: "headroom_breach" | "resident_high";
  /** Null where the rule is silent. */
  readonly tier: Tier | null;
  /** Of a breach that a habit holds. */
  readonly habitualTier?: Tier;
  readonly gates: readonly GateResult[];
}

/** The rule that applies to the baseline, with its gates. */
export function levelRule(input: LevelInput): LevelFinding {
  return input.baseline > RESIDENT_BASELINE ? residentHigh(input) : headroomBreach(input);
}

function headroomBreach({ level, baseline, corroborated, wasBreached }: LevelInput): LevelFinding {
  const gates = [
    atLeast("headroom_floor", level, wasBreached ? HEADROOM_CLEAR : HEADROOM_FLOOR),
    atMost("baseline_below", baseline, RESIDENT_BASELINE),
  ];
  const fires = gates.every((gate) => gate.passed);
  return { rule: "headroom_breach", tier: fires ? (corroborated ? "high" : "medium") : null, gates };
}

/** Never without corroboration, so what fires has been raised already. */
function residentHigh({ level, baseline, corroborated }: LevelInput): LevelFinding {
  const headroom = 1 - baseline;
  const consumed = headroom > 0 ? (level - baseline) / headroom : level > baseline ? 1 : 0;
  const gates = [
    above("resident_baseline", baseline, RESIDENT_BASELINE),
    atLeast("headroom_consumed", consumed, RESIDENT_CONSUMED_MIN),
    holds("corroborated", corroborated),
  ];
  return { rule: "resident_high", tier: gates.every((gate) => gate.passed) ? "high" : null, gates };
}
