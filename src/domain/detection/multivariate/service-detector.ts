// The joint detector of one service: a model of its metrics, retrained as history grows, and the model's evidence against its own drifting history.
// Score and alert ask different things: the score how rare a vector is in training, the alert whether strangeness itself has left its usual range, so
// that a service that has drifted since training is not one long alert.
import { anomalyScore } from "../anomaly-score.ts";
import { AlertGate, GATE_WORDS, type GateStep } from "../gate/alert-gate.ts";
import { DriftingMoments, MOMENTS_WORDS } from "../rolling/drifting-moments.ts";
import { RECENT_WORDS, RecentValues } from "../rolling/recent-values.ts";
import { INTERVAL_WORDS, UsualInterval } from "../rolling/usual-interval.ts";
import { normalQuantile, Z_MAX } from "../tail-probability.ts";
import type { Random } from "./isolation-forest.ts";
import type { Rows } from "./principal-components.ts";
import { ServiceModel, SMOOTHED_VECTORS } from "./service-model.ts";

/** Rows that the evidence's history remembers. */
const LONG_MEMORY = 6400;
/** Rows over which evidence is also taken as a mean. */
const SMOOTHED = 3;
/** Evidence that opens an alert, in standard deviations of its own history. */
const EVIDENCE_BAR = 5;

/** What the detector says of a vector; the object is used again for the next one. */
export interface ServiceVerdict {
  /** 0..1 from the tail probability; 0 without a model. */
  score: number;
  z: number;
  /** Standard deviations of the strongest evidence from its history. */
  evidence: number;
  gate: GateStep;
}

const NO_STEP: GateStep = { isFiring: false, opened: false, suppressedBy: null };

/** One service with a fixed list of metrics. */
export class ServiceDetector {
  readonly #width: number;
  #model: ServiceModel | null = null;
  #before: Float64Array;
  readonly #components: RecentValues;
  readonly #isolations: RecentValues;
  readonly #channels: readonly EvidenceChannel[];
  readonly #interval: UsualInterval;
  readonly #gate: AlertGate;
  readonly #verdict: ServiceVerdict = { score: 0, z: 0, evidence: 0, gate: NO_STEP };

  constructor(width: number) {
    this.#width = width;
    this.#before = new Float64Array(width);
    this.#components = new RecentValues(new Float64Array(RECENT_WORDS));
    this.#isolations = new RecentValues(new Float64Array(RECENT_WORDS));
    this.#channels = [new EvidenceChannel(), new EvidenceChannel(), new EvidenceChannel()];
    this.#interval = new UsualInterval(new Float64Array(INTERVAL_WORDS));
    this.#gate = new AlertGate(new Float64Array(GATE_WORDS));
  }

  get isFiring(): boolean {
    return this.#gate.isFiring;
  }

  get hasModel(): boolean {
    return this.#model !== null;
  }

  /** Trains on consecutive vectors of the past. The first model also reads them as the history of its evidence; later ones go on with theirs. */
  train(rows: Rows, random: Random): void {
    const isFirst = this.#model === null;
    this.#model = new ServiceModel(rows, random);
    if (!isFirst) return;
    for (let i = rows.width; i < rows.values.length; i += rows.width) this.#weigh(this.#model, rows.values, i, rows.values, i - rows.width);
    this.#before = rows.values.slice(rows.values.length - rows.width);
  }

  /** Judges a vector of finite values by what came before it. Times must not go back. */
  observe(timeMs: number, values: Float64Array): ServiceVerdict {
    const verdict = this.#verdict;
    this.#interval.add(timeMs);
    if (this.#model !== null) {
      verdict.evidence = this.#weigh(this.#model, values, 0, this.#before, 0);
      verdict.gate = this.#gate.step(timeMs, verdict.evidence / EVIDENCE_BAR, this.#interval.ms, false);
    }
    this.#before.set(values);
    return verdict;
  }

  /** Metrics by their part in the last vector's residual, largest first; shares sum to 1. */
  contributions(names: readonly string[]): Array<{ readonly feature: string; readonly share: number }> {
    const parts = this.#model?.contributions() ?? new Float64Array(this.#width);
    const total = parts.reduce((sum, part) => sum + part, 0) || 1;
    return names.map((feature, j) => ({ feature, share: (parts[j] as number) / total })).sort((a, b) => b.share - a.share);
  }

  #weigh(model: ServiceModel, values: Float64Array, start: number, before: Float64Array, startBefore: number): number {
    const strangeness = model.measure(values, start, before, startBefore);
    this.#components.add(strangeness.shape + strangeness.step);
    this.#isolations.add(strangeness.isolation);
    const means = { components: this.#components.mean(SMOOTHED_VECTORS), isolation: this.#isolations.mean(SMOOTHED_VECTORS) };
    const z = Math.min(Z_MAX, normalQuantile(model.logP(strangeness, means)));
    this.#verdict.z = z;
    this.#verdict.score = anomalyScore(z);
    const [levels, jumps, places] = this.#channels as readonly [EvidenceChannel, EvidenceChannel, EvidenceChannel];
    return Math.max(levels.weigh(strangeness.level), jumps.weigh(strangeness.jump), places.weigh(strangeness.isolation));
  }
}

/** One statistic of the model, alone and as a short mean, against its own drifting history. */
class EvidenceChannel {
  readonly #recent = new RecentValues(new Float64Array(RECENT_WORDS));
  readonly #single = new DriftingMoments(new Float64Array(MOMENTS_WORDS));
  readonly #smooth = new DriftingMoments(new Float64Array(MOMENTS_WORDS));

  weigh(value: number): number {
    this.#recent.add(value);
    const mean = this.#recent.mean(SMOOTHED);
    const evidence = Math.max(this.#single.z(value), this.#smooth.z(mean));
    this.#single.add(value, LONG_MEMORY);
    this.#smooth.add(mean, LONG_MEMORY);
    return evidence;
  }
}
