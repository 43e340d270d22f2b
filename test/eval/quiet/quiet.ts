// usage: node --import ./scripts/typescript-loader.mjs test/eval/quiet/quiet.ts [--services N] [--incidents N] [--seed N] [--days N]
// Pages a service-day in services without an incident, and the share of planted incidents that page within five minutes.
import { parseArgs } from "node:util";
import { quietRun } from "./quiet-run.ts";

const { values } = parseArgs({
  options: {
    services: { type: "string", default: "500" },
    incidents: { type: "string", default: "96" },
    seed: { type: "string", default: "1" },
    days: { type: "string", default: "1" },
  },
});

const result = quietRun({
  services: Number(values.services),
  incidents: Number(values.incidents),
  seed: Number(values.seed),
  warmDays: Number(values.days),
  progress: (done, of) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${of} services`);
  },
});
if (process.stderr.isTTY) process.stderr.write("\r\x1b[2K");
const kinds = Object.entries(result.incidents);
const planted = kinds.reduce((sum, [, each]) => sum + each.planted, 0);
const found = kinds.reduce((sum, [, each]) => sum + each.found, 0);
const share = (of: { planted: number; found: number }) => `${((100 * of.found) / Math.max(1, of.planted)).toFixed(0)} %`;
console.log(
  `quiet simulation, ${result.serviceDays} services x 24 h, seed ${values.seed}: ${(result.pages / result.serviceDays).toFixed(4)} pages a service-day (bar 0.02)`,
);
for (const [name, pages] of Object.entries(result.pagesBy).sort((a, b) => b[1] - a[1])) console.log(`  ${name}: ${pages} pages`);
for (const [name, findings] of Object.entries(result.heldBy).sort((a, b) => b[1] - a[1]))
  console.log(`  held back by ${name}: ${findings}`);
console.log(`incidents that page within five minutes: ${share({ planted, found })} of ${planted} (bar 90 %)`);
for (const [kind, each] of kinds) console.log(`  ${kind}: ${share(each)} of ${each.planted}`);
