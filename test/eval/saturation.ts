// Scores the saturation detector on a folder of generated series with known ends: truth.json and <name>.csv.gz with rows minute,value. Each
// series goes through the detector as it ships, value by value, with an evaluation every two minutes; its last one counts.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { SaturationSeries } from "../../src/domain/saturation/saturation-series.ts";
import { type SaturationPair, type SaturationScore, scoreSaturation } from "./saturation-score.ts";

const MINUTE_MS = 60_000;
/** Any whole minute: nothing depends on it. */
const START_MS = 1_767_225_600_000;
const EVALUATION_MINUTES = 2;

interface SeriesTruth {
  readonly kind: "fill" | "drain";
  readonly eta_minutes: number | null;
}

/** Minutes to the end that the detector tells after the last value; null for none. */
export function projectedMinutes(kind: "fill" | "drain", values: readonly number[], everyMinutes = EVALUATION_MINUTES): number | null {
  const metricName = kind === "drain" ? "disk.free_percent" : "disk.used_percent";
  const series = new SaturationSeries({ metricName, unit: "%", instance: null });
  const last = values.length - 1;
  let minutes: number | null = null;
  values.forEach((value, minute) => {
    const timeMs = START_MS + minute * MINUTE_MS;
    series.observe(timeMs, value);
    if ((last - minute) % everyMinutes !== 0) return;
    minutes = series.evaluate(timeMs, { limit: null, corroborated: false }).finding?.projection?.minutes ?? null;
  });
  return minutes;
}

/** Figures of one folder; undefined where it holds no such series. */
export function evaluateSaturation(folder: string): SaturationScore | undefined {
  const pairs = readSaturation(folder);
  return pairs === undefined ? undefined : scoreSaturation(pairs);
}

/** True and projected ends of the series of a folder, in the order of its truth.json; undefined where it holds none. */
export function readSaturation(folder: string): SaturationPair[] | undefined {
  const file = join(folder, "truth.json");
  if (!existsSync(file)) return undefined;
  const { saturation } = JSON.parse(readFileSync(file, "utf8")) as { saturation?: Record<string, SeriesTruth> };
  if (saturation === undefined) return undefined;
  return Object.entries(saturation).map(([name, { kind, eta_minutes: truth }]) => ({
    truth,
    predicted: projectedMinutes(kind, readValues(join(folder, `${name}.csv.gz`))),
  }));
}

/** One line of figures with their bars. */
export function saturationLine(detector: string, score: SaturationScore): string {
  const { series, tierAccuracy, falseProjections, missed, withinFifth } = score;
  const figures = [
    `tier accuracy ${tierAccuracy.toFixed(3)} (bar 0.95)`,
    `false projections ${falseProjections} (bar 0)`,
    `within 20 % ${withinFifth.toFixed(3)} (bar 0.75)`,
  ];
  return `saturation, ${detector}, ${series} series: ${figures.join(", ")}, missed ${missed}`;
}

function readValues(path: string): number[] {
  const rows = gunzipSync(readFileSync(path)).toString("utf8").trim().split("\n").slice(1);
  return rows.map((row) => Number(row.split(",")[1]));
}
