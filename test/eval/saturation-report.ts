// Prints the figures of the saturation detector on the folder that is named; nothing where it holds no generated series.
import { evaluateSaturation, saturationLine } from "./saturation.ts";

const score = evaluateSaturation(process.argv[2] ?? "");
if (score !== undefined) process.stdout.write(`${saturationLine(score)}\n`);
