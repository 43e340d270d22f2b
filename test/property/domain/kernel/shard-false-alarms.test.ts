// How often pure noise opens an episode. Taken literally, |z| > 3 fires 270 times (390 with the uncorrected z) in 100,000 samples of noise.
import { describe, expect, it } from "vitest";
import { type Generator, generator } from "../../../support/generator.ts";
import { type Row, ShardRig } from "../../../support/shard-rig.ts";

const STREAMS = 100;
const SAMPLES = 1_000;
const START = 1_700_000_000_000;

/** A source of noise per stream. */
const NOISES: Readonly<Record<string, (random: Generator) => () => number>> = {
  "iid normal": (random) => () => random.normal(),
  "Student t with 5 degrees of freedom": (random) => () => {
    let chi = 0;
    for (let i = 0; i < 5; i++) chi += random.normal() ** 2;
    return random.normal() / Math.sqrt(chi / 5);
  },
  "AR(1) 0.7": (random) => {
    let last = 0;
    return () => {
      last = 0.7 * last + random.normal();
      return last;
    };
  },
};

function count(noise: (random: Generator) => () => number): { openings: number; excursions: number; samples: number } {
  const random = generator(20_261_121);
  const rig = new ShardRig({ window: 120 });
  const sources = Array.from({ length: STREAMS }, () => noise(random));
  for (let k = 0; k < STREAMS; k++) rig.stream();
  for (let i = 0; i < SAMPLES; i++) {
    rig.applyRows(sources.map((next, ref): Row => ({ ref, timeMs: START + 10_000 * i, value: 100 + 10 * next() })));
  }
  return {
    openings: rig.kernel.openings.value,
    excursions: rig.kernel.excursions.value,
    samples: rig.kernel.samplesTaken.value,
  };
}

describe("false alarms in 100,000 samples", () => {
  it.each([
    ["iid normal", 12],
    ["Student t with 5 degrees of freedom", 120],
    ["AR(1) 0.7", 120],
  ] as const)("of %s open at most %d episodes", (name, limit) => {
    const { openings, excursions, samples } = count(NOISES[name] as (random: Generator) => () => number);
    process.stdout.write(`${name}: ${openings} openings, ${excursions} excursions in ${samples} samples\n`);
    expect(samples).toBe(STREAMS * SAMPLES);
    expect(openings).toBeLessThanOrEqual(limit);
    if (name === "iid normal") expect(excursions).toBeGreaterThan(200);
    if (name === "iid normal") expect(excursions).toBeLessThan(340);
  });
});
