// The bounds of a series' values, made by judging it again: layer 1 with its masks and floors, and the long baseline by the series' own tail. About 2 us a value,
// and 4 more for one that the long baseline takes.

import { EVENT_OPEN } from "../../core/layout/kernel-event.ts";
import { FLAG_OPERATION } from "../../core/layout/stream-record.ts";
import { PairDetector } from "../detection/pair/pair-detector.ts";
import { type PairSurroundings, SURROUNDED_BY_NOTHING } from "../detection/pair/pair-surroundings.ts";
import { groupObservations } from "../detection/rolling/observation-groups.ts";
import type { OffsetMs } from "../detection/seasonal/time-zone-hours.ts";
import { StreamOracle } from "../detection/stream-oracle.ts";
import type { DeclarationRule } from "../detection/thresholds.ts";
import { AgeingThreshold, ThresholdTables } from "./threshold-tables.ts";
import type { WorkSlices } from "./work-slices.ts";

/** Values between lower and upper are ordinary. */
export interface JudgedBounds {
  readonly expected: number;
  readonly lower: number;
  readonly upper: number;
}

/** Baselines that the detectors compared a value with; null where one knew too little, or looked at the value with others of its minute. */
export interface JudgedPoint {
  readonly statistical: JudgedBounds | null;
  readonly adaptive: JudgedBounds | null;
  /** The detector whose bounds count: of a value that one of them declared that one, else layer 1. */
  readonly judgedBy: "statistical" | "adaptive" | null;
}

export interface PointJudgeOptions extends Pick<PairSurroundings, "streams" | "knownDays" | "counts">, DeclarationRule {
  readonly window: number;
  readonly zThreshold: number;
  /** Since when the service is known (rule 1.1.13); not given where it is mature. */
  readonly serviceSinceMs?: number;
  readonly offsetMs: OffsetMs;
  /** FLAG_* of core/layout/stream-record.ts: an operation, a counter. */
  readonly flags: number;
  readonly slices: WorkSlices;
}

/** Values before which the long baseline says nothing. */
const ADAPTIVE_VALUES = 14;
const POINT_US = 2;
/** Besides, for a value of the long baseline: each where they lie a minute or more apart, one of a minute where they are closer. */
const OBSERVATION_US = 4;

/** Judges the values of a stream, ascending by time. */
export async function judgePoints(times: Float64Array, values: Float64Array, options: PointJudgeOptions): Promise<JudgedPoint[]> {
  const { slices } = options;
  const window = new WindowBounds(options);
  const pair = new PairBounds(times, values, options);
  const points: JudgedPoint[] = [];
  for (let at = 0; at < times.length; at++) {
    const [timeMs, value] = [times[at] as number, values[at] as number];
    const { bounds: statistical, opens } = window.judge(timeMs, value);
    const workUs = pair.takes(timeMs) ? POINT_US + OBSERVATION_US : POINT_US;
    const { bounds: adaptive, opens: isAdaptive } = pair.judge(timeMs);
    const judgedBy = isAdaptive && !opens ? "adaptive" : statistical !== null ? "statistical" : adaptive === null ? null : "adaptive";
    points.push({ statistical, adaptive, judgedBy });
    if (slices.spend(workUs)) await slices.endSlice();
  }
  return points;
}

interface Judged {
  readonly bounds: JudgedBounds | null;
  /** An anomaly began with the value. */
  readonly opens: boolean;
}

/** Layer 1: its oracle keeps the window as the kernel does. */
class WindowBounds {
  readonly #oracle: StreamOracle;
  readonly #threshold: AgeingThreshold;
  readonly #samplesMin: number;

  constructor({ window, samplesMin, confirmation, zThreshold, serviceSinceMs, flags }: PointJudgeOptions) {
    const tables = ThresholdTables.shared({ samplesMin, confirmation });
    this.#oracle = new StreamOracle({ window, tables: tables.of(zThreshold), counter: false, operation: (flags & FLAG_OPERATION) !== 0 });
    this.#threshold = new AgeingThreshold(
      { sinceMs: serviceSinceMs ?? Number.NEGATIVE_INFINITY, threshold: zThreshold, tables },
      this.#oracle,
    );
    this.#samplesMin = samplesMin;
  }

  judge(timeMs: number, value: number): Judged {
    this.#threshold.at(timeMs);
    const { count, mean, openWidth } = this.#oracle.baseline;
    const opens = this.#oracle.apply(timeMs, value).some(({ kind }) => kind === EVENT_OPEN);
    if (count < this.#samplesMin) return { bounds: null, opens };
    return { bounds: { expected: mean, lower: mean - openWidth, upper: mean + openWidth }, opens };
  }
}

/** The long baseline, which takes the values of a minute together. */
class PairBounds {
  readonly #detector: PairDetector;
  readonly #around: PairSurroundings;
  readonly #times: Float64Array;
  readonly #values: Float64Array;
  readonly #count: number;
  /** How many of the values each observation stands for. */
  readonly #members: Uint32Array;
  #next = 0;

  constructor(times: Float64Array, values: Float64Array, { offsetMs, streams, knownDays, zThreshold, counts = 0 }: PointJudgeOptions) {
    this.#detector = new PairDetector(undefined, offsetMs);
    this.#around = { ...SURROUNDED_BY_NOTHING, streams, knownDays, zThreshold, counts };
    this.#times = times.slice();
    this.#values = values.slice();
    this.#count = groupObservations(this.#times, this.#values, times.length, 0);
    this.#members = new Uint32Array(this.#count);
    let at = 0;
    for (const timeMs of times) {
      this.#members[at] = (this.#members[at] ?? 0) + 1;
      if (timeMs === this.#times[at]) at++;
    }
  }

  /** Whether it observes a value at that time. */
  takes(timeMs: number): boolean {
    return this.#next < this.#count && timeMs === this.#times[this.#next];
  }

  judge(timeMs: number): Judged {
    if (!this.takes(timeMs)) return { bounds: null, opens: false };
    const at = this.#next++;
    const knows = this.#detector.count >= ADAPTIVE_VALUES && this.#members[at] === 1;
    const { opened } = this.#detector.observe(timeMs, this.#values[at] as number, this.#around);
    return { bounds: knows ? this.#detector.bounds : null, opens: opened && knows };
  }
}
