// node --import ./scripts/typescript-loader.mjs test/eval/saturation-report.ts FOLDER: figures of FOLDER/synth beside those of guesses.
import { join } from "node:path";
import { generator } from "../support/generator.ts";
import { readSaturation, saturationLine } from "./saturation.ts";
import { scoreSaturation } from "./saturation-score.ts";

const DAY_MINUTES = 1440;
const folder = process.argv[2];
const pairs = folder === undefined ? undefined : readSaturation(join(folder, "synth"));
if (pairs !== undefined) {
  const random = generator(1);
  const guess = (): number => Math.exp(Math.log(2 * DAY_MINUTES) * random.uniform());
  console.log(saturationLine("shipped", scoreSaturation(pairs)));
  console.log(saturationLine("always an hour", scoreSaturation(pairs.map(({ truth }) => ({ truth, predicted: 60 })))));
  console.log(saturationLine("random", scoreSaturation(pairs.map(({ truth }) => ({ truth, predicted: guess() })))));
}
