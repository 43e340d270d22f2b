// Forecasts of the M4 series, as GET /api/v1/ml/forecast makes them: `auto`, with intervals of 95 %. The test part is read by the scorer alone.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { forecastSeries } from "../../../src/domain/forecast/forecast.ts";
import type { Row } from "../rows.ts";
import { scoredToFile } from "../scorer.ts";

interface Scores {
  readonly mase: number;
  readonly owa: number;
  readonly cov: number;
  readonly msis: number;
}

interface SeriesSet {
  readonly name: "hourly" | "weekly";
  /** Season of the scorer, as in the M4 competition. */
  readonly scoredSeason: number;
  readonly periods: readonly number[];
  readonly horizon: number;
}

const HOURLY: SeriesSet = { name: "hourly", scoredSeason: 24, periods: [24, 168], horizon: 48 };
const WEEKLY: SeriesSet = { name: "weekly", scoredSeason: 1, periods: [52], horizon: 13 };

/** Empty where the folder holds no such series. */
export function forecastRows(folder: string, out: string): Row[] {
  if (!existsSync(join(folder, "hourly.train.csv.gz"))) return [];
  const hourly = scoresOf(HOURLY, folder, out);
  const weekly = scoresOf(WEEKLY, folder, out);
  return [
    { data: "m4 hourly", measure: "MASE", value: hourly.mase, bar: 1.1, goal: 0.89, less: true },
    { data: "m4 hourly", measure: "OWA", value: hourly.owa, bar: 0.52, goal: 0.44, less: true },
    { data: "m4 hourly", measure: "coverage of 95 %", value: hourly.cov, bar: [0.9, 0.98], goal: [0.93, 0.97] },
    { data: "m4 hourly", measure: "MSIS", value: hourly.msis, bar: 11, goal: 8, less: true },
    { data: "m4 weekly", measure: "OWA", value: weekly.owa, bar: 0.86, goal: 0.8, less: true },
  ];
}

function scoresOf({ name, scoredSeason, periods, horizon }: SeriesSet, folder: string, out: string): Scores {
  const files = { train: join(folder, `${name}.train.csv.gz`), test: join(folder, `${name}.test.csv.gz`) };
  const range = { lower: 0, upper: Number.POSITIVE_INFINITY };
  const lines: Record<"mean" | "lower" | "upper", string[]> = { mean: [], lower: [], upper: [] };
  for (const line of gunzipSync(readFileSync(files.train)).toString("utf8").trim().split("\n")) {
    const [id, ...cells] = line.split(",") as [string, ...string[]];
    const values = Float64Array.from(
      cells.filter((cell) => cell.trim() !== ""),
      Number,
    );
    const forecast = forecastSeries({ values, periods, horizon }, { algorithm: "auto", level: 0.95, range });
    if (forecast === undefined) throw new Error(`no forecast of ${id}`);
    for (const part of ["mean", "lower", "upper"] as const) lines[part].push([id, ...forecast[part]].join(","));
  }
  const written = (part: keyof typeof lines) => {
    const file = join(out, `${name}.${part}.csv`);
    writeFileSync(file, `${lines[part].join("\n")}\n`);
    return file;
  };
  const parts = ["--pred", written("mean"), "--lower", written("lower"), "--upper", written("upper")];
  return scoredToFile("score_forecast.py", ["--train", files.train, "--test", files.test, "--m", String(scoredSeason), ...parts], out);
}
