// Saw-teeth, pulses and decays with a period of 20 to 700 minutes that is none of the clock's: one event of a period is missing, or twice as large.
import { DAY_MINUTES, type FaultySeries, generatorOf, type HabitGroup, type HabitKind, NOISES, sampled } from "./habit-kind.ts";

/** Ranges of periods, in minutes. */
const RANGES = [
  [20, 40],
  [40, 90],
  [90, 180],
  [180, 360],
  [360, 700],
] as const;
/** Periods that cron makes, and what is as near one as that share. */
const CLOCK = [20, 30, 60, 90, 120, 180, 240, 360, 480, 720];
const CLOCK_SHARE = 0.02;
const DAYS = 9;
/** Working day on which the fault is. */
const FAULT_DAY = 8;
const BASE = 120;
const SWING = 80;
const PULSE_SHARE = 0.15;
const DECAY_SHARE = 0.2;

/** Course of one period by its phase; its event is `size` times as large as usual, 0 for missing. */
interface Rhythm {
  readonly name: string;
  readonly missing: string;
  readonly twice: string;
  readonly value: (phase: number, size: number) => number;
}

const RHYTHMS: readonly Rhythm[] = [
  {
    name: "saw-tooth",
    missing: "missing drop",
    twice: "twice as deep",
    value: (phase, size) => phase + (1 - size),
  },
  {
    name: "pulse",
    missing: "missing pulse",
    twice: "twice as high",
    value: (phase, size) => (phase < PULSE_SHARE ? size : 0),
  },
  {
    name: "decay",
    missing: "missing jump",
    twice: "twice as high",
    value: (phase, size) => Math.exp(-phase / DECAY_SHARE) * size,
  },
];

/** A period of a range, log-uniform, in tenths of minutes. */
function periodOf([least, most]: (typeof RANGES)[number], uniform: () => number): number {
  for (;;) {
    const period = Math.round(10 * least * (most / least) ** uniform()) / 10;
    if (!CLOCK.some((clock) => Math.abs(period - clock) <= CLOCK_SHARE * clock)) return period;
  }
}

function rhythmKind({ name, missing, twice, value }: Rhythm, range: (typeof RANGES)[number], noise: number): HabitKind {
  const row = `${name}, ${range[0]} to ${range[1]} minutes`;
  const made = (seed: number, size: number): FaultySeries => {
    const { uniform, normal } = generatorOf(seed, row, noise);
    const period = periodOf(range, uniform);
    const offset = period * uniform();
    const faultNth = Math.ceil((FAULT_DAY * DAY_MINUTES + 10 * 60 + offset) / period);
    const faultMinute = Math.ceil(faultNth * period - offset);
    const withinMinutes = Math.max(1, Math.floor(period / 4));
    const length = size === 1 ? DAYS * DAY_MINUTES : faultMinute + withinMinutes + 1;
    const series = sampled(length, (minute) => {
      const at = (minute + offset) / period;
      const nth = Math.floor(at + 1e-9);
      const own = value(at - nth, nth === faultNth ? size : 1);
      return BASE + SWING * (own + (noise / 2) * normal());
    });
    return { ...series, faultMinute, withinMinutes };
  };
  return {
    row,
    noise,
    quiet: (seed) => ({ ...made(seed, 1), fromMinute: DAY_MINUTES }),
    faults: [
      { name: missing, series: (seed) => made(seed, 0) },
      { name: twice, series: (seed) => made(seed, 2) },
    ],
  };
}

export const OWN_PERIODS: HabitGroup = {
  title: "saw-tooth, pulse, decay with a period of 20 to 700 minutes, none of the clock's",
  quietBar: 0.07,
  worstBar: 0.15,
  foundBar: 0.9,
  kinds: RHYTHMS.flatMap((rhythm) => RANGES.flatMap((range) => NOISES.map((noise) => rhythmKind(rhythm, range, noise)))),
};
