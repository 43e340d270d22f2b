// Series of two periods at once: half of either is gone for half an hour, from its highest on.
import { DAY_MINUTES, type FaultySeries, generatorOf, type HabitGroup, type HabitKind, NOISES, sampled } from "./habit-kind.ts";

const DAYS = 9;
const FAULT_DAY = 8;
const FAULT_MINUTES = 30;
const WITHIN_MINUTES = 10;
const BASE = 40;
const HEIGHT = 100;

/** One of the two: its course from 0 to 1, and the phase from which on it is high for a while. */
interface Part {
  readonly name: string;
  readonly minutes: number;
  readonly high: number;
  readonly value: (phase: number) => number;
}

const wave = (minutes: number): Part => ({
  name: `wave of ${minutes}`,
  minutes,
  high: 0.42,
  value: (phase) => (1 - Math.cos(2 * Math.PI * phase)) / 2,
});
const saw = (minutes: number): Part => ({ name: `saw-tooth of ${minutes}`, minutes, high: 0.7, value: (phase) => phase });
const duty = (minutes: number): Part => ({
  name: `half of ${minutes} on`,
  minutes,
  high: 0,
  value: (phase) => (phase < 0.5 ? 1 : 0),
});

const PAIRS: ReadonlyArray<readonly [Part, Part]> = [
  [wave(97), wave(DAY_MINUTES)],
  [saw(53), wave(333)],
  [duty(60), saw(217)],
  [wave(71), wave(457)],
  [duty(140), wave(DAY_MINUTES)],
];

function pairKind(parts: readonly [Part, Part], noise: number): HabitKind {
  const row = `${parts[0].name} and ${parts[1].name} minutes`;
  const made = (seed: number, broken: number | undefined): FaultySeries => {
    const { uniform, normal } = generatorOf(seed, row, noise);
    const offsets = parts.map(({ minutes }) => (minutes === DAY_MINUTES || minutes === 60 ? 0 : Math.floor(minutes * uniform())));
    const { minutes, high } = parts[broken ?? 0] as Part;
    const nth = Math.ceil((FAULT_DAY * DAY_MINUTES + 9 * 60 + (offsets[broken ?? 0] as number)) / minutes);
    const faultMinute = Math.ceil((nth + high) * minutes - (offsets[broken ?? 0] as number));
    const length = broken === undefined ? DAYS * DAY_MINUTES : faultMinute + FAULT_MINUTES;
    const series = sampled(length, (minute) => {
      const heights = parts.map((part, i) => {
        const at = (minute + (offsets[i] as number)) / part.minutes;
        return part.value(at - Math.floor(at + 1e-9)) * (i === broken && minute >= faultMinute ? 0.5 : 1);
      });
      return BASE + HEIGHT * ((heights[0] as number) + (heights[1] as number) + (noise / 2) * normal());
    });
    return { ...series, faultMinute, withinMinutes: WITHIN_MINUTES };
  };
  return {
    row,
    noise,
    quiet: (seed) => ({ ...made(seed, undefined), fromMinute: DAY_MINUTES }),
    faults: [
      { name: "half of the first gone", series: (seed) => made(seed, 0) },
      { name: "half of the second gone", series: (seed) => made(seed, 1) },
    ],
  };
}

export const TWO_PERIODS: HabitGroup = {
  title: "two periods at once",
  quietBar: 0.07,
  worstBar: 0.07,
  foundBar: 0.9,
  kinds: PAIRS.flatMap((parts) => NOISES.map((noise) => pairKind(parts, noise))),
};
