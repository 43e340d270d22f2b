// Metrics that share the hours of the day and nothing else: whatever causes are found among them are false. Of four shapes of season, with correlated noise.
import { CAUSAL_LAG_MAX, CAUSAL_MINUTES } from "../../../src/core/config/prediction-limits.ts";
import { discoverLinks } from "../../../src/domain/causality/causal-discovery.ts";
import { validatePair } from "../../../src/domain/causality/pair-validation.ts";
import { type Generator, generator } from "../../support/generator.ts";
import type { Row } from "../rows.ts";

const SYSTEMS = 40;
const METRICS = 10;
const DAY_MINUTES = 1_440;
const OPTIONS = { stepMs: 60_000, lagMax: CAUSAL_LAG_MAX };

type Season = (minute: number) => number;

/** A wave of the day, one with its second harmonic, working hours with steep edges, and a wave of the hour on top. */
const SEASONS: readonly Season[] = [
  (minute) => wave(minute, DAY_MINUTES),
  (minute) => wave(minute, DAY_MINUTES) + 0.5 * wave(minute + 90, DAY_MINUTES / 2),
  (minute) => Math.tanh(4 * wave(minute, DAY_MINUTES)),
  (minute) => wave(minute, DAY_MINUTES) + 0.5 * wave(minute, 60),
];

function wave(minute: number, period: number): number {
  return Math.sin((2 * Math.PI * minute) / period);
}

export function independentRows(seed: number): Row[] {
  const random = generator(seed);
  let [links, pairs, validated] = [0, 0, 0];
  for (let system = 0; system < SYSTEMS; system++) {
    const start = Math.floor(DAY_MINUTES * random.uniform());
    const series = Array.from({ length: METRICS }, (_, metric) =>
      seasonalSeries(random, SEASONS[metric % SEASONS.length] as Season, start),
    );
    links += discoverLinks(series, OPTIONS).length;
    for (const [place, cause] of series.entries()) {
      for (const [other, effect] of series.entries()) {
        if (place === other) continue;
        pairs++;
        validated += Number(validatePair(cause, effect, OPTIONS)?.isCausal ?? false);
      }
    }
  }
  const data = `independent seasonal series, ${pairs} pairs`;
  return [
    { data, measure: "false links", value: links / pairs, bar: 0.07, goal: 0.05, less: true },
    { data, measure: "false links, pair by pair", value: validated / pairs, bar: 0.07, goal: 0.05, less: true },
  ];
}

/** Twelve hours of minutes from minute `start` of the day. */
function seasonalSeries(random: Generator, season: Season, start: number): Float64Array {
  const correlation = 0.9 * random.uniform();
  const height = 1 + 4 * random.uniform();
  let noise = 0;
  return Float64Array.from({ length: CAUSAL_MINUTES }, (_, minute) => {
    noise = correlation * noise + random.normal();
    return 100 + height * season(start + minute) + noise;
  });
}
