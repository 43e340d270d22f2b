// usage: node --import ./scripts/typescript-loader.mjs test/eval/quiet/quiet.ts [--services N] [--incidents N] [--factors N] [--seed N] [--days N] [--explain]
// Pages a service-day in services without an incident, and the shares of planted incidents, and of metrics at four times what they are, that page within five minutes.
import { parseArgs } from "node:util";
import { FACTOR_KINDS, INCIDENT_KINDS } from "./incident-plan.ts";
import { type Found, quietRun } from "./quiet-run.ts";

const { values } = parseArgs({
  options: {
    services: { type: "string", default: "500" },
    incidents: { type: "string", default: "96" },
    factors: { type: "string", default: "96" },
    seed: { type: "string", default: "1" },
    days: { type: "string", default: "1" },
    explain: { type: "boolean", default: false },
  },
});

const result = await quietRun({
  services: Number(values.services),
  incidents: Number(values.incidents),
  factors: Number(values.factors),
  seed: Number(values.seed),
  warmDays: Number(values.days),
  progress: (done, of) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${of} services`);
  },
});
if (process.stderr.isTTY) process.stderr.write("\r\x1b[2K");
const share = ({ planted, found }: Found) => `${((100 * found) / Math.max(1, planted)).toFixed(0)} %`;

/** What was found of some kinds, all together and each. */
function printFound(what: string, bar: number, kinds: readonly string[]): void {
  const rows = kinds.flatMap((kind) => (result.byKind[kind] === undefined ? [] : [[kind, result.byKind[kind]] as const]));
  const all = rows.reduce((so, [, { planted, found }]) => ({ planted: so.planted + planted, found: so.found + found }), {
    planted: 0,
    found: 0,
  });
  console.log(`${what} that page within five minutes: ${share(all)} of ${all.planted} (bar ${bar} %)`);
  for (const [kind, each] of rows) console.log(`  ${kind}: ${share(each)} of ${each.planted}`);
}

const perDay = (result.pages.length / Math.max(1, result.serviceDays)).toFixed(4);
console.log(`quiet simulation, ${result.serviceDays} services x 24 h, seed ${values.seed}: ${perDay} pages a service-day (bar 0.02)`);
for (const [name, pages] of Object.entries(result.pagesBy).sort((a, b) => b[1] - a[1])) console.log(`  ${name}: ${pages} pages`);
for (const [name, findings] of Object.entries(result.heldBy).sort((a, b) => b[1] - a[1]))
  console.log(`  held back by ${name}: ${findings}`);
printFound("incidents", 95, INCIDENT_KINDS);
printFound("metrics at four times what they are, 10 to 60 s,", 97, FACTOR_KINDS);
console.log(result.severities.line);
if (values.explain) for (const line of [...result.pages, ...result.missed]) console.log(`  ${line}`);
