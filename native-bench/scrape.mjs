// What a page of GET /metrics costs the main thread, in CPU: `node native-bench/scrape.mjs [engines]`, after `make build`. All endpoints have been called, and
// every slot has a value, so no page of a server with as many engines is longer.

import { RequestHistogram, registerMetrics } from "../dist/actors/front/metrics-page.js";
import { RefusedBodies } from "../dist/actors/front/refused-bodies.js";
import { MetricsRegistry } from "../dist/adapters/telemetry/metrics-registry.js";
import { ENDPOINTS } from "../dist/api/endpoints.js";
import { COORDINATOR_SLOTS, ENGINE_SLOTS, FRONT_SHARED_LIMITS, LATENCY_SLOTS } from "../dist/core/layout/counters.js";
import { FRONT_METRICS } from "../dist/core/telemetry/front-metrics.js";
import { shown, spread } from "./measure.mjs";

const engines = Number(process.argv[2] ?? 16);
const pagesWarm = 50;
const pages = 200;
const rounds = 5;

/** Milliseconds of user and system time that `count` pages take each. */
async function cpuOf(/** @type {MetricsRegistry} */ registry, /** @type {number} */ count) {
  const before = process.cpuUsage();
  for (let page = 0; page < count; page++) await registry.page();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e3 / count;
}

async function main() {
  const requests = new RequestHistogram();
  for (const [place, { name }] of ENDPOINTS.entries()) requests.observe(name, place / 100);
  const slots = (/** @type {number} */ count) => Float64Array.from({ length: count }, (_, slot) => slot * 1234.5);
  const registry = new MetricsRegistry();
  registerMetrics(registry, {
    build: { version: "1.0.0", node_version: process.versions.node },
    engines: Array.from({ length: engines }, () => slots(ENGINE_SLOTS)),
    coordinator: slots(COORDINATOR_SLOTS),
    streamed: slots(LATENCY_SLOTS),
    requests,
    refusedBodies: new RefusedBodies(),
    front: Object.fromEntries(Object.keys(FRONT_METRICS).map((name, place) => [name, () => place])),
    limited: new Map(["free", "starter", "pro", "enterprise", "key"].map((by, place) => [by, place])),
    sharesRefused: FRONT_SHARED_LIMITS.map((limit) => ({ limit, read: () => 1 })),
    sharesTaken: FRONT_SHARED_LIMITS.map((limit) => ({ limit, most: 2, read: () => 1 })),
    faults: new Map(),
    ports: Array.from({ length: engines }, () => ({ ringFill: 0.5, waiting: 2 })),
    log: { written: new Map([["info", 1]]), dropped: new Map([["rate", 0]]) },
  });
  const page = await registry.page();
  await cpuOf(registry, pagesWarm);
  const turns = [];
  for (let round = 0; round < rounds; round++) turns.push(await cpuOf(registry, pages));
  const { median, min, max } = spread(turns);
  console.log(`${engines} engines: ${page.split("\n").length - 1} lines, ${page.length} bytes`);
  console.log(`CPU a page: ${shown(median)} ms (${shown(min)} to ${shown(max)}, ${rounds} rounds of ${pages})`);
  process.exitCode = 0;
}

await main();
