// A cycle of 20 minutes to almost 5 hours that rides on a fill: stairs of a batch job, a buffer that is flushed, a load that comes and goes. It is
// found by folding what a trend leaves over at each period; one that its own older half does not foretell is none.
const PERIOD_MINUTES_MIN = 20;
const BINS_MAX = 12;
const BINS_MIN = 4;
const BIN_MINUTES_MIN = 5;
/** Narrower bins keep the edge of a stair. */
const BIN_MINUTES_SHARP = 7.5;
const CYCLES_MIN = 2.5;
/** A step of the period moves the phase over the whole span by this part of a cycle. */
const PHASE_STEP = 1 / 8;
/** Share of the variance that a cycle must explain, adjusted for its bins, and of the newer half that the older half must. */
const EXPLAINED_MIN = 0.4;
const FORETOLD_MIN = 0.25;
/** A shorter period is taken for a longer one (its multiple) that explains only so much more. */
const MULTIPLE_GAIN = 0.9;

/** Mean of what is left over per part of the period; time in minutes, as that of the points. */
export interface Cycle {
  readonly periodMinutes: number;
  readonly profile: Float64Array;
  /** Share of variance explained, adjusted, 0..1. */
  readonly explained: number;
}

/** The cycle of residuals over time in minutes, or null. */
export function findCycle(t: Float64Array, residuals: Float64Array): Cycle | null {
  const n = t.length;
  if (n < BINS_MAX * CYCLES_MIN) return null;
  const span = (t[n - 1] as number) - (t[0] as number);
  const bins = new Uint8Array(n);
  const total = variation(residuals, 0);
  let best: Cycle | null = null;
  for (let period = PERIOD_MINUTES_MIN; period <= span / CYCLES_MIN; period += (period * period * PHASE_STEP) / span) {
    const profile = profileOf(residuals, placed(t, period, bins), period, n);
    const explained = explainedShare(residuals, bins, profile, { from: 0, parameters: profile.length, total });
    const cycle: Cycle = { periodMinutes: period, profile, explained };
    if (
      cycle.explained >= EXPLAINED_MIN &&
      (best === null || cycle.explained * MULTIPLE_GAIN > best.explained * multiplePenalty(best, period))
    ) {
      best = cycle;
    }
  }
  return best !== null && foretold(residuals, placed(t, best.periodMinutes, bins), best.periodMinutes) ? best : null;
}

/** Value of the cycle at a time: between the middles of its bins where these are wider than a point, so that a slow wave has no stairs. */
export function cycleAt({ profile, periodMinutes }: Cycle, t: number): number {
  const bins = profile.length;
  if (periodMinutes <= bins * BIN_MINUTES_SHARP) return profile[binOf(t, periodMinutes, bins)] as number;
  const periods = t / periodMinutes;
  const index = (periods - Math.floor(periods)) * bins - 0.5;
  const left = Math.floor(index);
  const before = profile[(left + bins) % bins] as number;
  const after = profile[(left + 1) % bins] as number;
  return before + (index - left) * (after - before);
}

/** Neighbouring periods compete as equals; one that is clearly longer has to explain more. */
function multiplePenalty(best: Cycle, period: number): number {
  return period < 1.5 * best.periodMinutes ? MULTIPLE_GAIN : 1;
}

function foretold(residuals: Float64Array, bins: Uint8Array, period: number): boolean {
  const half = residuals.length >> 1;
  const older = profileOf(residuals, bins, period, half);
  return explainedShare(residuals, bins, older, { from: half, parameters: 1, total: variation(residuals, half) }) >= FORETOLD_MIN;
}

function binCount(period: number): number {
  return Math.min(BINS_MAX, Math.max(BINS_MIN, Math.floor(period / BIN_MINUTES_MIN)));
}

/** Bins of all times, written into `bins`. */
function placed(t: Float64Array, period: number, bins: Uint8Array): Uint8Array {
  const count = binCount(period);
  for (let i = 0; i < t.length; i++) bins[i] = binOf(t[i] as number, period, count);
  return bins;
}

/** Means of the first `to` residuals by bin. */
function profileOf(residuals: Float64Array, bins: Uint8Array, period: number, to: number): Float64Array {
  const count = binCount(period);
  const profile = new Float64Array(count);
  const counts = new Uint32Array(count);
  for (let i = 0; i < to; i++) {
    const bin = bins[i] as number;
    profile[bin] = (profile[bin] as number) + (residuals[i] as number);
    counts[bin] = (counts[bin] as number) + 1;
  }
  for (let bin = 0; bin < count; bin++) profile[bin] = (profile[bin] as number) / Math.max(1, counts[bin] as number);
  return profile;
}

/** Sum of squares about the mean, from a point on. */
function variation(residuals: Float64Array, from: number): number {
  const n = residuals.length - from;
  let mean = 0;
  for (let i = from; i < residuals.length; i++) mean += (residuals[i] as number) / n;
  let total = 0;
  for (let i = from; i < residuals.length; i++) total += ((residuals[i] as number) - mean) ** 2;
  return total;
}

/** Part of `total`, the variation from a point on, that the profile explains. */
function explainedShare(
  residuals: Float64Array,
  bins: Uint8Array,
  profile: Float64Array,
  { from, parameters, total }: { readonly from: number; readonly parameters: number; readonly total: number },
): number {
  const n = residuals.length - from;
  let left = 0;
  for (let i = from; i < residuals.length; i++) left += ((residuals[i] as number) - (profile[bins[i] as number] as number)) ** 2;
  return total === 0 ? 0 : 1 - left / (n - parameters) / (total / (n - 1));
}

function binOf(t: number, period: number, bins: number): number {
  const periods = t / period;
  return Math.min(bins - 1, Math.floor((periods - Math.floor(periods)) * bins));
}
