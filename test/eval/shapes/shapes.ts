// Series that are no incidents though they are no plain noise either: a value a minute, and what happens to each when something goes wrong.
import { type Generator, generator } from "../../support/generator.ts";

const HOUR = 60;
const DAY = 24 * HOUR;
export const SHAPE_DAYS = 14;
export const SHAPE_MINUTES = SHAPE_DAYS * DAY;
/** Minutes of the day at which something goes wrong, on the twelfth: in the middle of an hour, of a working day. */
export const FAULT_AT = 11 * DAY + 10 * HOUR + 23;

export interface Shape {
  readonly name: string;
  /** The value of a minute; minutes come in order, and `state` is the shape's own. */
  readonly value: (minute: number, random: Generator, state: { x: number; until: number }) => number;
  /** What goes wrong, in words, for so many minutes, and the value that comes of it. */
  readonly fault: string;
  readonly minutes: number;
  readonly faulty: (usual: number, since: number, random: Generator) => number;
}

const poisson = (mean: number, { uniform }: Generator): number => {
  if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * (uniform() + uniform() + uniform() - 1.5) * 2));
  let [count, product] = [0, uniform()];
  for (const least = Math.exp(-mean); product > least; product *= uniform()) count++;
  return count;
};
const pareto = (exponent: number, { uniform }: Generator): number => (1 - uniform()) ** (-1 / exponent);
const day = (minute: number): number => Math.sin((2 * Math.PI * minute) / DAY);
const isWeekend = (minute: number): boolean => Math.floor(minute / DAY) % 7 >= 5;

export const SHAPES: readonly Shape[] = [
  {
    name: "hourly job, three minutes of 205, else 5",
    value: (minute, { normal }) => (minute % HOUR < 3 ? 205 + 4 * normal() : 5 + 0.4 * normal()),
    fault: "a job that does not end",
    minutes: 40,
    faulty: (_, __, { normal }) => 205 + 4 * normal(),
  },
  {
    name: "job every 17 minutes, two minutes long",
    value: (minute, { normal }) => (minute % 17 < 2 ? 80 : 20) + normal(),
    fault: "four times the load",
    minutes: 30,
    faulty: (usual) => 4 * usual,
  },
  {
    name: "bursts, one minute in a hundred",
    value: (_, { uniform, normal }) => (uniform() < 0.01 ? 60 + 10 * normal() : 10 + normal()),
    fault: "a burst that stays",
    minutes: 20,
    faulty: (_, __, { normal }) => 60 + 10 * normal(),
  },
  {
    name: "heavy tail, Pareto 2.5",
    value: (_, random) => 20 * pareto(2.5, random),
    fault: "five times as slow",
    minutes: 30,
    faulty: (usual) => 5 * usual,
  },
  {
    name: "heavy tail, log-normal with Pareto 3.5",
    value: (_, random) => 40 * Math.exp(0.2 * random.normal()) + 3 * (pareto(3.5, random) - 1),
    fault: "twice as slow",
    minutes: 30,
    faulty: (usual) => 2 * usual,
  },
  {
    name: "errors in quiet traffic, one in 50 minutes",
    value: (_, random) => poisson(0.02, random),
    fault: "four errors a minute",
    minutes: 20,
    faulty: (_, __, random) => poisson(4, random),
  },
  {
    name: "count near zero, 0.3 a minute",
    value: (_, random) => poisson(0.3, random),
    fault: "six a minute",
    minutes: 20,
    faulty: (_, __, random) => poisson(6, random),
  },
  {
    name: "quantised to tenths",
    value: (_, { normal }) => Math.round(10 * (3 + 0.06 * normal())) / 10,
    fault: "one more",
    minutes: 30,
    faulty: (usual) => usual + 1,
  },
  {
    name: "flat, one step up or down in a day",
    value: (minute, { uniform }, state) => {
      if (minute === 0) state.x = 3;
      if (uniform() < 1 / DAY) state.x = state.x === 3 ? 4 : 3;
      return state.x;
    },
    fault: "none left",
    minutes: 30,
    faulty: () => 0,
  },
  {
    name: "ratio near its bound",
    value: (_, { normal }) => Math.min(1, 0.995 - Math.abs(0.002 * normal())),
    fault: "one in twenty fails",
    minutes: 20,
    faulty: (usual) => usual - 0.05,
  },
  {
    name: "saw-tooth of 90 minutes",
    value: (minute, { normal }) => 20 + (minute % 90) / 2 + 0.5 * normal(),
    fault: "it goes on rising",
    minutes: 120,
    faulty: (_, since) => 20 + (((FAULT_AT % 90) + since) * 1) / 2,
  },
  {
    name: "random walk",
    value: (_, { normal }, state) => {
      state.x += 0.3 * normal();
      return 200 + state.x + 0.5 * normal();
    },
    fault: "a jump of 20",
    minutes: 60,
    faulty: (usual) => usual + 20,
  },
  {
    name: "weekly season",
    value: (minute, { normal }) => (500 + 250 * day(minute)) * (isWeekend(minute) ? 0.5 : 1) + 12 * normal(),
    fault: "half of it is gone",
    minutes: 30,
    faulty: (usual) => usual / 2,
  },
  {
    name: "duty cycle, 10 minutes on, 20 off",
    value: (minute, { normal }) => (minute % 30 < 10 ? 90 : 15) + normal(),
    fault: "it stays on",
    minutes: 90,
    faulty: (_, __, { normal }) => 90 + normal(),
  },
  {
    name: "duty cycle of uneven length",
    value: (minute, { uniform, normal }, state) => {
      if (minute >= state.until) {
        state.x = state.x === 0 ? 1 : 0;
        state.until = minute + Math.round((state.x === 1 ? 8 : 25) * (0.6 + 0.8 * uniform()));
      }
      return (state.x === 1 ? 60 : 10) + normal();
    },
    fault: "three times as high",
    minutes: 30,
    faulty: (usual) => 3 * usual,
  },
  {
    name: "daily season of correlated noise",
    value: (minute, { normal }, state) => {
      state.x = 0.9 * state.x + 2 * normal();
      return 100 + 40 * day(minute) + state.x;
    },
    fault: "60 more",
    minutes: 30,
    faulty: (usual) => usual + 60,
  },
];

/** The shape's values, as it is or with its fault. */
export function valuesOf(shape: Shape, seed: number, isFaulty: boolean): Float64Array {
  const random = generator(seed);
  // Faults draw from their own numbers, so that what is usual is the same in both.
  const faults = generator(seed + 1_000_003);
  const state = { x: 0, until: 0 };
  return Float64Array.from({ length: SHAPE_MINUTES }, (_, minute) => {
    const usual = shape.value(minute, random, state);
    const since = minute - FAULT_AT;
    return isFaulty && since >= 0 && since < shape.minutes ? shape.faulty(usual, since, faults) : usual;
  });
}
