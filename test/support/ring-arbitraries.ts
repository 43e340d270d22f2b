// What may stand in a ring, of every kind that the forms of a column tell apart.
import fc from "fast-check";
import { WINDOW_MAX } from "../../src/core/layout/stream-record.ts";

const edge = fc.constantFrom(
  0,
  -0,
  5e-324,
  -5e-324,
  2.2e-308,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  2 ** 50,
  2 ** 51 - 1,
  2 ** 51,
  -(2 ** 51),
  2 ** 51 + 0.5,
  2 ** 53,
  0.1,
  0.5,
  1e-6,
  1e-7,
  123456.789012,
);
const filled = (value: fc.Arbitrary<number>) => fc.array(value, { minLength: 1, maxLength: WINDOW_MAX, size: "max" });
const scan = (steps: number[], power: number, start: number) => {
  let sum = start;
  return steps.map((step) => {
    sum += step;
    return sum / power;
  });
};
const walks = (magnitude: number) =>
  fc
    .tuple(filled(fc.integer({ min: -magnitude, max: magnitude })), fc.nat({ max: 6 }), fc.integer({ min: -1e9, max: 1e9 }))
    .map(([steps, decimals, start]) => scan(steps, 10 ** decimals, start));
const counters = fc
  .tuple(filled(fc.nat({ max: 2 ** 31 - 1 })), fc.constantFrom(0, 1e12, 2 ** 49), fc.constantFrom(1, 512, 4096))
  .map(([steps, start, unit]) =>
    scan(
      steps.map((step) => (step % 1000) * unit),
      1,
      start,
    ),
  );
/** Values of a ring, 1 .. WINDOW_MAX of them: walks, counters, constants, floats, and what scales and bits have edges at. */
export const seriesOf = fc.oneof(
  walks(3),
  walks(500),
  walks(2 ** 30),
  counters,
  fc.tuple(fc.oneof(edge, fc.double({ noNaN: true })), fc.integer({ min: 1, max: WINDOW_MAX })).map(([value, n]) => Array(n).fill(value)),
  filled(fc.double({ noNaN: true })),
  filled(fc.double({ min: 0, max: 1000, noNaN: true })),
  filled(fc.float({ noNaN: true })),
  filled(edge),
  filled(fc.oneof({ weight: 50, arbitrary: fc.constantFrom(0, 1, 0.5) }, { weight: 1, arbitrary: fc.constant(-0) })),
  filled(fc.oneof({ weight: 20, arbitrary: fc.constant(100) }, { weight: 1, arbitrary: fc.double({ noNaN: true }) })),
  filled(fc.tuple(fc.integer({ min: -(2 ** 51), max: 2 ** 51 }), fc.nat({ max: 7 })).map(([m, decimals]) => m / 10 ** decimals)),
  filled(fc.constantFrom(-(2 ** 51) + 1, 2 ** 51 - 1, 0)),
  filled(fc.constantFrom(-(2 ** 49), 2 ** 49, 1)),
);
const saturated = 2 ** 32 - 1;
/** So many intervals, whole milliseconds of 32 bits. */
export const intervalsOf = (count: number) => {
  const list = (interval: fc.Arbitrary<number>) => fc.array(interval, { minLength: count, maxLength: count });
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(0, 1, 1000, 15_000, saturated).map((interval) => Array<number>(count).fill(interval)) },
    list(fc.constantFrom(10_000, 20_000)),
    list(fc.oneof({ weight: 30, arbitrary: fc.constant(10_000) }, { weight: 1, arbitrary: fc.constantFrom(10_001, saturated) })),
    list(fc.integer({ min: 14_900, max: 15_100 })),
    list(fc.integer({ min: 0, max: saturated })),
  );
};
