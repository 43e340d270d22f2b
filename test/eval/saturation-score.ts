// Figures of saturation: the tier of the projected time against the true one, projections where nothing runs out, and the share of ends
// that are projected within a fifth of the time that is left (of ten minutes at least). Times in minutes, null for none within 24 hours.

export interface SaturationPair {
  readonly truth: number | null;
  readonly predicted: number | null;
}

export interface SaturationScore {
  readonly series: number;
  readonly tierAccuracy: number;
  /** Of the series that do not run out. */
  readonly falseProjections: number;
  /** Of the series that do. */
  readonly missed: number;
  readonly withinFifth: number;
}

const DAY_MINUTES = 1440;

export function scoreSaturation(pairs: readonly SaturationPair[]): SaturationScore {
  const ending = pairs.filter(({ truth }) => truth !== null);
  const endless = pairs.filter(({ truth }) => truth === null);
  const share = (of: readonly SaturationPair[], holds: (pair: SaturationPair) => boolean): number =>
    of.length === 0 ? 0 : of.filter(holds).length / of.length;
  return {
    series: pairs.length,
    tierAccuracy: share(pairs, ({ truth, predicted }) => tierIndex(truth) === tierIndex(predicted)),
    falseProjections: endless.filter(({ predicted }) => tierIndex(predicted) > 0).length,
    missed: ending.filter(({ predicted }) => tierIndex(predicted) === 0).length,
    withinFifth: share(
      ending,
      ({ truth, predicted }) => tierIndex(predicted) > 0 && relativeError(truth as number, predicted as number) <= 0.2,
    ),
  };
}

function tierIndex(minutes: number | null): number {
  if (minutes === null || minutes > DAY_MINUTES) return 0;
  return minutes > 360 ? 1 : minutes > 60 ? 2 : 3;
}

function relativeError(truth: number, predicted: number): number {
  return Math.abs(predicted - truth) / Math.max(truth, 10);
}
