// usage: node --import ./scripts/typescript-loader.mjs test/eval/rolling/rolling-report.ts [--services N] [--seed N]
// Rolling deployments that rename every pod each hour, through the whole pipeline: pages in services without a fault, beside those of the same telemetry under names that
// stay, and the share of faults in single pods that page.
import { parseArgs } from "node:util";
import { sentenceText } from "../../../src/domain/anomaly/sentence.ts";
import { runOnce } from "../../../src/domain/backtest/backtest.ts";
import { NO_FACTS } from "../../../src/domain/backtest/history.ts";
import { UTC_OFFSET } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { variant } from "../../support/backtest-rig.ts";
import { FAULT_KINDS, MINUTE_MS, type PodFault, plantFault, podSeries, START_MS } from "./pod-model.ts";

const { values } = parseArgs({ options: { services: { type: "string", default: "200" }, seed: { type: "string", default: "1" } } });
const services = Number(values.services);
const FAULTS = 20;
const PODS = 10;
const HOURS = 24;
const FOUND_MINUTES = 5;

async function pagesOf(number: number, isRenamed: boolean, fault: PodFault | undefined): Promise<string[]> {
  const series = podSeries(`service-${number}`, Number(values.seed) * 1_000_003 + number, { pods: PODS, hours: HOURS, isRenamed, fault });
  const untilMs = START_MS + HOURS * 60 * MINUTE_MS;
  const options = { window: 120, samplesMin: 12, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET, sinceMs: START_MS, untilMs };
  // Pods that are gone are no silent service.
  const decisions = await runOnce(
    series,
    { ...NO_FACTS, leftOut: { stale: "", isolation_forest: "" } },
    variant(),
    options,
    () => undefined,
  );
  return decisions
    .filter(({ outcome }) => outcome === "paged")
    .map(
      ({ atMs, detector, metricName, explanation }) =>
        `${(atMs - START_MS) / MINUTE_MS} ${detector} ${metricName} ${sentenceText(explanation)}`,
    );
}

let [quiet, renamed, kept, found] = [0, 0, 0, 0];
const missed: string[] = [];
const noisy: string[] = [];
for (let number = 0; number < services; number++) {
  if (process.stderr.isTTY) process.stderr.write(`\r${number} of ${services} services`);
  const kind = FAULT_KINDS[number % FAULT_KINDS.length] as (typeof FAULT_KINDS)[number];
  const fault = number < FAULTS ? plantFault(Number(values.seed) * 7919 + number, kind, PODS, HOURS) : undefined;
  const pages = await pagesOf(number, true, fault);
  if (fault !== undefined) {
    const isFound = pages.some((page) => {
      const minute = Number.parseFloat(page);
      return minute >= fault.onset && minute < fault.onset + FOUND_MINUTES;
    });
    if (isFound) found++;
    else missed.push(`${fault.kind} of pod ${fault.pod} of service ${number} at minute ${fault.onset}: ${pages.join("; ") || "no page"}`);
    continue;
  }
  quiet++;
  renamed += pages.length;
  noisy.push(...pages.map((page) => `service ${number}, minute ${page}`));
  kept += (await pagesOf(number, false, undefined)).length;
}
if (process.stderr.isTTY) process.stderr.write("\r\x1b[2K");
console.log(`rolling deployments, ${services} services x ${PODS} pods, new names each hour, ${HOURS} h, seed ${values.seed}:`);
console.log(`  pages of ${quiet} services without a fault: ${renamed}, under names that stay ${kept} (bar 0 more)`);
console.log(`  faults in single pods found within ${FOUND_MINUTES} minutes: ${found} of ${Math.min(FAULTS, services)} (bar 90 %)`);
for (const line of noisy.slice(0, 20)) console.log(`  ${line}`);
for (const line of missed) console.log(`  missed: ${line}`);
