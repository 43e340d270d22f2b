// Causes of generated systems whose links are known, as GET /api/v1/ml/causal finds them.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { CAUSAL_LAG_MAX } from "../../../src/core/config/prediction-limits.ts";
import { discoverLinks } from "../../../src/domain/causality/causal-discovery.ts";
import type { Row } from "../rows.ts";
import { scoredToOutput } from "../scorer.ts";

const MINUTE_MS = 60_000;

interface Scores {
  readonly causal: Readonly<Record<string, { readonly f1: number; readonly precision: number; readonly lag_ok: number }>>;
}

/** Empty where the folder holds no such systems. */
export function causalRows(folder: string, out: string): Row[] {
  const truth = join(folder, "truth.json");
  if (!existsSync(truth)) return [];
  const { causal } = JSON.parse(readFileSync(truth, "utf8")) as { causal: Record<string, unknown> };
  const found = join(out, "edges.json");
  writeFileSync(
    found,
    JSON.stringify(Object.fromEntries(Object.keys(causal).map((name) => [name, edgesOf(join(folder, `${name}.csv.gz`))]))),
  );
  const { all, ...traits } = scoredToOutput<Scores>("score_synth.py", ["--truth", truth, "--causal", found]).causal;
  if (all === undefined) throw new Error("no causal system was scored");
  return [
    { data: "causal systems", measure: "F1", value: all.f1, bar: 0.93, goal: 0.97 },
    { data: "causal systems", measure: "precision", value: all.precision, bar: 0.9 },
    { data: "causal systems", measure: "lag within a minute", value: all.lag_ok, bar: 0.95 },
    ...Object.entries(traits).map(([trait, { f1 }]) => ({ data: `causal: ${trait}`, measure: "F1", value: f1 })),
  ];
}

function edgesOf(file: string): [cause: string, effect: string, lag: number][] {
  const [head, ...lines] = gunzipSync(readFileSync(file)).toString("utf8").trim().split("\n") as [string, ...string[]];
  const names = head.split(",");
  const rows = lines.map((line) => line.split(",").map(Number));
  const series = names.map((_, column) => Float64Array.from(rows, (row) => row[column] as number));
  const links = discoverLinks(series, { stepMs: MINUTE_MS, lagMax: CAUSAL_LAG_MAX });
  return links.map(({ cause, effect, lag }) => [names[cause] as string, names[effect] as string, lag]);
}
