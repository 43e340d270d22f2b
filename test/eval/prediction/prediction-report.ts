// node --import ./scripts/typescript-loader.mjs test/eval/prediction/prediction-report.ts [FOLDER] [--seed N]: forecasts of FOLDER/m4, causes of FOLDER/synth,
// and what causes and drift are found where there are none, on generated data; by the functions that the coordinator's computations call.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { rowsText } from "../rows.ts";
import { causalRows } from "./causal-rows.ts";
import { driftRows } from "./drift-rows.ts";
import { forecastRows } from "./forecast-rows.ts";
import { independentRows } from "./independent-rows.ts";

const { values: given, positionals } = parseArgs({ options: { seed: { type: "string", default: "1" } }, allowPositionals: true });
const seed = Number(given.seed);
const [folder] = positionals;
const out = mkdtempSync(join(tmpdir(), "prediction-eval-"));
try {
  const ofFiles = folder === undefined ? [] : [...forecastRows(join(folder, "m4"), out), ...causalRows(join(folder, "synth"), out)];
  const rows = [...ofFiles, ...independentRows(seed), ...driftRows(seed)];
  console.log(rowsText(rows));
} finally {
  rmSync(out, { recursive: true });
}
