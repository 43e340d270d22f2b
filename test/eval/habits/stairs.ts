// Stairs: exact values that stay for hours or days and step to one of a few levels, or up and down by one size. Four times the level, or nothing, for 40 minutes.
import type { Generator } from "../../support/generator.ts";
import { DAY_MINUTES, type FaultySeries, generatorOf, type HabitGroup, type HabitKind, sampled } from "./habit-kind.ts";

const DAYS = 21;
const FAULT_DAY = 18;
const FAULT_MINUTES = 40;
const WITHIN_MINUTES = 5;
const STEPS_A_DAY = [0.1, 0.3, 1, 4] as const;
/** Steps after which the series is known to take some. */
const STEPS_BEFORE = 2;

/** A kind of stairs: what makes the next level of one. */
interface Stairs {
  readonly name: string;
  readonly begin: (random: Generator) => { level: number; next: () => number };
}

const STAIRS: readonly Stairs[] = [
  {
    name: "levels",
    begin: ({ uniform }) => {
      const least = 2 + Math.floor(8 * uniform());
      const levels = Array.from({ length: 3 + Math.floor(3 * uniform()) }, (_, i) => least + i * (1 + Math.floor(least / 4)));
      let at = 0;
      const next = () => {
        at = (at + 1 + Math.floor((levels.length - 1) * uniform())) % levels.length;
        return levels[at] as number;
      };
      return { level: levels[0] as number, next };
    },
  },
  {
    name: "walk",
    begin: ({ uniform }) => {
      const size = [0.5, 1, 5, 25][Math.floor(4 * uniform())] as number;
      let level = (12 + Math.floor(20 * uniform())) * size;
      const next = () => {
        level += level <= 6 * size || uniform() < 0.5 ? size : -size;
        return level;
      };
      return { level, next };
    },
  },
];

function stairsKind({ name, begin }: Stairs, stepsADay: number): HabitKind {
  const row = `${name}, ${stepsADay} steps a day`;
  const made = (seed: number, factor: number): FaultySeries & { readonly fromMinute: number } => {
    const random = generatorOf(seed, row, 0);
    const { level: first, next } = begin(random);
    const faultMinute = Math.floor((FAULT_DAY + random.uniform()) * DAY_MINUTES);
    let [level, steps, fromMinute] = [first, 0, DAY_MINUTES];
    const series = sampled(factor === 1 ? DAYS * DAY_MINUTES : faultMinute + FAULT_MINUTES, (minute) => {
      if (random.uniform() < stepsADay / DAY_MINUTES) {
        level = next();
        steps++;
        // A page of the second step may come some minutes behind it.
        if (steps === STEPS_BEFORE) fromMinute = Math.max(DAY_MINUTES, minute + 10);
      }
      return minute >= faultMinute ? factor * level : level;
    });
    if (steps < STEPS_BEFORE) fromMinute = series.minutes.length;
    return { ...series, fromMinute, faultMinute, withinMinutes: WITHIN_MINUTES };
  };
  return {
    row,
    noise: 0,
    quiet: (seed) => made(seed, 1),
    faults: [
      { name: "four times", isFourfold: true, series: (seed) => made(seed, 4) },
      { name: "nothing", series: (seed) => made(seed, 0) },
    ],
  };
}

export const EXACT_STAIRS: HabitGroup = {
  title: "stairs, exact",
  quietBar: 0.1,
  worstBar: 0.1,
  foundBar: 0.9,
  kinds: STAIRS.flatMap((stairs) => STEPS_A_DAY.map((stepsADay) => stairsKind(stairs, stepsADay))),
};
