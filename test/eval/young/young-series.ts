// Young series: so many values at an interval, of so much noise, with single odd values among them, and what happens to each when something goes wrong behind them.
import { type Generator, generator } from "../../support/generator.ts";

export const YOUNG_COUNTS = [20, 60, 120, 200, 300];
export const YOUNG_INTERVALS_S = [5, 10, 15, 30, 60];
export const YOUNG_VARIATIONS = [0.05, 0.1, 0.15, 0.2, 0.3];
/** Duration of what goes wrong. */
const FAULT_S = 20 * 60;
const LEVEL = 120;
/** One value in so many is odd, at least one is, and none stands beside another. */
const ODD_ONE_IN = 40;
const ODD_FACTORS = [0, 3, 5, 10];

/** What goes wrong: the values are so many times as large, up to this variation. */
export interface YoungFault {
  readonly name: string;
  readonly factor: number;
  readonly variationMax: number;
}

export const YOUNG_FAULTS: readonly YoungFault[] = [
  { name: "twice", factor: 2, variationMax: 0.15 },
  { name: "four times", factor: 4, variationMax: 1 },
  { name: "ten times", factor: 10, variationMax: 1 },
  { name: "nothing", factor: 0, variationMax: 1 },
];

/** A series of this kind. */
export interface YoungKind {
  readonly count: number;
  readonly intervalS: number;
  readonly variation: number;
}

/** Its values, and when they came; `faultMs` is when the first of those came that something is wrong with. */
export interface YoungValues {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly faultMs: number;
}

/** Values of a kind, and of twenty minutes more with a fault in them or without one. */
export function youngValues({ count, intervalS, variation }: YoungKind, seed: number, startMs: number, fault?: YoungFault): YoungValues {
  const random = generator(seed);
  const length = count + Math.round(FAULT_S / intervalS);
  const beganMs = startMs + Math.floor(60_000 * random.uniform());
  const times = Float64Array.from({ length }, (_, i) => beganMs + 1000 * intervalS * i);
  const values = Float64Array.from({ length }, () => LEVEL * Math.max(0, 1 + variation * random.normal()));
  addOdd(values, count, random);
  if (fault !== undefined) for (let i = count; i < length; i++) values[i] = (values[i] as number) * fault.factor;
  return { times, values, faultMs: times[count] as number };
}

/** Puts odd values in; none just before the fault, and none within it. */
function addOdd(values: Float64Array, count: number, { uniform }: Generator): void {
  const odd = (i: number) => {
    values[i] = (values[i] as number) * (ODD_FACTORS[Math.floor(ODD_FACTORS.length * uniform())] as number);
  };
  const first = 2 + Math.floor((count - 4) * uniform());
  odd(first);
  let last = -2;
  for (let i = 0; i < count - 2; i++) {
    if (uniform() >= 1 / ODD_ONE_IN || Math.abs(i - first) < 2 || i - last < 2) continue;
    odd(i);
    last = i;
  }
}
