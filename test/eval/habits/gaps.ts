// Series that stop for 5 to 60 minutes, or for 8 hours into another hour, and come back at the level of that hour, or at five times it.
import { DAY_MINUTES, type FaultySeries, generatorOf, type HabitGroup, type HabitKind, NOISES, type QuietSeries } from "./habit-kind.ts";

const GAPS_MINUTES = [5, 15, 30, 60, 480] as const;
const FAULT_FACTOR = 5;
const FAULT_VALUES = 5;
/** Day in which the gap is, and what comes behind it. */
const GAP_DAY = 4;
const BEHIND_MINUTES = 180;
const SHAPES = [
  { name: "level", swing: 0 },
  { name: "daily wave", swing: 0.5 },
] as const;
const LEVEL = 120;

function gapKind({ name, swing }: (typeof SHAPES)[number], gapMinutes: number, noise: number): HabitKind {
  const row = `${name}, gap of ${gapMinutes} minutes`;
  const made = (seed: number, factor: number) => {
    const { uniform, normal } = generatorOf(seed, row, noise);
    const begins = GAP_DAY * DAY_MINUTES + Math.floor((DAY_MINUTES - gapMinutes) * uniform());
    const [minutes, values]: [number[], number[]] = [[], []];
    for (let minute = 0; minute < begins + gapMinutes + BEHIND_MINUTES; minute++) {
      const usual = LEVEL * (1 + swing * Math.sin((2 * Math.PI * minute) / DAY_MINUTES)) * Math.max(0, 1 + noise * normal());
      if (minute >= begins && minute < begins + gapMinutes) continue;
      minutes.push(minute);
      values.push(minute < begins ? usual : factor * usual);
    }
    return { minutes, values, faultMinute: begins + gapMinutes, withinMinutes: FAULT_VALUES - 1 };
  };
  return {
    row,
    noise,
    quiet: (seed): QuietSeries => ({ ...made(seed, 1), fromMinute: DAY_MINUTES }),
    faults: [{ name: "five times it", isFourfold: true, series: (seed): FaultySeries => made(seed, FAULT_FACTOR) }],
  };
}

export const GAPS: HabitGroup = {
  title: "gaps of 5 to 60 minutes, and of 8 hours into another hour",
  quietBar: 0,
  worstBar: 0,
  foundBar: 0.95,
  kinds: SHAPES.flatMap((shape) => GAPS_MINUTES.flatMap((gap) => NOISES.map((noise) => gapKind(shape, gap, noise)))),
};
