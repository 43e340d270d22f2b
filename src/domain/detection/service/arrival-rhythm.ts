// How often a service usually sends, over all its series, and from when on its silence is news (decisions, section 2): no sample for
// max(5 x the usual interval, 3 minutes). 50 gaps of 4 bytes; what comes within a second of what came before is one arrival.
import { above, atLeast, below, type GateResult } from "../gates/gate-result.ts";
import { median } from "../robust.ts";

const GAPS_KEPT = 50;
const ARRIVAL_MS_MIN = 1000;
const SILENCE_INTERVALS = 5;
/** No service is stale before. */
export const SILENCE_MS_MIN = 180_000;
/** A service that has missed samples for so many intervals is overdue; no service is before it has been silent for OVERDUE_MS_MIN. */
const OVERDUE_INTERVALS = 2;
export const OVERDUE_MS_MIN = 120_000;
/** Coefficient of variation of the gaps from which a service comes and goes by nature, such as a job. */
const VARIATION_MAX = 1.5;
/** A serialised rhythm: newest arrival, number of gaps, the gaps. */
const RHYTHM_VALUES = 2 + GAPS_KEPT;

/** When a service that was last heard at `sinceMs` is overdue. */
export function overdueFromMs(sinceMs: number, usualIntervalMs: number): number {
  return sinceMs + Math.max(OVERDUE_INTERVALS * usualIntervalMs, OVERDUE_MS_MIN);
}

export class ArrivalRhythm {
  private readonly gaps = new Float32Array(GAPS_KEPT);
  private count = 0;
  private newestMs = Number.NaN;

  /** Newest arrival; NaN before the first. */
  get lastSeenMs(): number {
    return this.newestMs;
  }

  /** Takes the arrival of any sample of the service; older ones than the newest change nothing. */
  observe(timeMs: number): void {
    const gap = timeMs - this.newestMs;
    if (gap < ARRIVAL_MS_MIN) return;
    if (!Number.isNaN(gap)) {
      this.gaps[this.count % GAPS_KEPT] = gap;
      this.count++;
    }
    this.newestMs = timeMs;
  }

  /** Median gap in milliseconds; 0 before the first gap. */
  usualIntervalMs(): number {
    return median(this.known());
  }

  /** Silence in milliseconds that is news. */
  silenceLimitMs(): number {
    return Math.max(SILENCE_INTERVALS * this.usualIntervalMs(), SILENCE_MS_MIN);
  }

  /**
   * The gates of a silence; all pass where the service is stale. `bootedAtMs` is the start of this process: what nobody could receive is
   * no silence.
   */
  staleGates(nowMs: number, bootedAtMs: number): GateResult[] {
    return [
      atLeast("arrivals", Math.min(this.count, GAPS_KEPT), GAPS_KEPT),
      below("interval_variation", this.variation(), VARIATION_MAX),
      above("silence_ms", nowMs - Math.max(this.newestMs, bootedAtMs), this.silenceLimitMs()),
    ];
  }

  serialise(): Float64Array {
    const values = new Float64Array(RHYTHM_VALUES);
    values.set([this.newestMs, this.count]);
    values.set(this.gaps, 2);
    return values;
  }

  static restore(values: Float64Array): ArrivalRhythm {
    if (values.length !== RHYTHM_VALUES) throw new Error(`an arrival rhythm has ${RHYTHM_VALUES} values, got ${values.length}`);
    const rhythm = new ArrivalRhythm();
    [rhythm.newestMs, rhythm.count] = values as unknown as [number, number];
    rhythm.gaps.set(values.subarray(2));
    return rhythm;
  }

  private known(): Float32Array {
    return this.gaps.subarray(0, Math.min(this.count, GAPS_KEPT));
  }

  private variation(): number {
    const gaps = this.known();
    if (gaps.length === 0) return Number.POSITIVE_INFINITY;
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
    return Math.sqrt(variance) / mean;
  }
}
