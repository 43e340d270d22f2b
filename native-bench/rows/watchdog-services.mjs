// Layer 2 in one thread: what a cycle takes for many services, what a training takes, what a service takes of memory.
import { shown } from "../measure.mjs";

const SERVICES = 5_000;
const METRICS = 20;
const MINUTE_MS = 60_000;
const VECTORS = 4_320;
const MODELS = 10;
const CYCLES = 5;
const START_MS = Date.UTC(2026, 0, 5);

/** @type {import("../turns.mjs").Row} */
export const watchdogServices = {
  name: "watchdog-services",
  what:
    `${shown(SERVICES)} services of ${METRICS} metrics, a stream each, in one thread without a server: work of a cycle of the pass over services, models of ${shown(VECTORS)} vectors; bytes of a service with everything that its ` +
    "engine keeps, by metric; one training from samples to bytes",
  quick: false,
  async run() {
    const { trainService } = await import("../../dist/domain/detection/multivariate/service-training.js");
    const trainings = Object.fromEntries([METRICS, 64].map((metrics) => [metrics, timed(MODELS, () => trainService(jobOf(metrics)))]));
    const before = used();
    const pass = await filledPass(trainService);
    const bytes = (used() - before) / (SERVICES * METRICS);
    const cycles = timed(CYCLES, pass.cycle);
    return {
      lines: [
        {
          label: "work of a cycle",
          values: cycles,
          unit: "ms",
          bar: 5_000,
          lowerIsBetter: true,
          note: `${pass.evaluated()} vectors judged in each`,
        },
        {
          label: "memory, by metric",
          values: [bytes],
          unit: "B",
          note: "heap and buffers after a collection; streams and long baselines not counted",
        },
        ...Object.entries(trainings).map(([metrics, values]) => ({
          label: `training, ${metrics} metrics`,
          values,
          unit: "ms",
          bar: 1_000,
          lowerIsBetter: true,
          note: `${shown(VECTORS)} vectors; the samples are there`,
        })),
      ],
      notMeasured: globalThis.gc === undefined ? ["memory is that before a collection: run with --expose-gc"] : [],
    };
  },
};

function timed(count, work) {
  return Array.from({ length: count }, () => {
    const startMs = performance.now();
    work();
    return performance.now() - startMs;
  });
}

function used() {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Metrics that follow one load, with noise of their own. */
function jobOf(metrics) {
  const times = Float64Array.from({ length: VECTORS }, (_, i) => START_MS - (VECTORS - i) * MINUTE_MS);
  let load = 0;
  const loads = times.map(() => (load = 0.95 * load + Math.random() - 0.5));
  const streams = Array.from({ length: metrics }, (_, j) => ({
    times,
    values: loads.map((at) => at * ((j % 5) + 1) + 0.3 * Math.random()),
  }));
  const starts = Uint16Array.from({ length: metrics + 1 }, (_, i) => i);
  return {
    streams,
    starts,
    aggregations: new Uint8Array(metrics).fill(1),
    toMs: START_MS,
    intervalMs: MINUTE_MS,
    rowsMax: VECTORS,
    seed: 1,
  };
}

/** A pass over services that have their models, its streams' records made up. */
async function filledPass(trainService) {
  const { ServicesDetector } = await import("../../dist/actors/engine/watchdog/passes/services-pass.js");
  const { ShareLedger } = await import("../../dist/core/fairness/share-ledger.js");
  let nowMs = START_MS + MINUTE_MS;
  let judged = 0;
  const records = {
    flags: () => 0,
    identityAddress: (slot) => slot,
    profile: () => 0,
    partition: () => 0,
    count: () => 120,
    lastTimeMs: () => nowMs,
    lastValue: (slot) => ((slot * 7 + nowMs / MINUTE_MS) % 11) / 5,
    firstTimeMs: () => START_MS,
    readRing: () => 0,
  };
  const names = Array.from({ length: METRICS }, (_, j) => `metric.${String(j).padStart(2, "0")}`);
  const pass = new ServicesDetector(
    { servicesMax: SERVICES, intervalMs: MINUTE_MS },
    {
      records,
      nameOf: (slot) => ({
        tenant: "t",
        environment: "",
        serviceId: `s${Math.floor(slot / METRICS)}`,
        metricName: names[slot % METRICS],
        attributes: {},
      }),
      hashOf: () => new Uint8Array(16),
      hashText: (text) => text,
      partition: () => ({ chunks: { pending: () => [] } }),
      send: () => undefined,
      store: () => undefined,
      publish: () => undefined,
      shares: ShareLedger.alone(),
    },
  );
  const slots = Array.from({ length: SERVICES }, (_, s) => Array.from({ length: METRICS }, (_, j) => s * METRICS + j));
  const keys = slots.map((_, s) => JSON.stringify(["t", `s${s}`]));
  const cycle = () => {
    pass.begin(nowMs);
    keys.forEach((key, s) => {
      for (let first = 0; first < METRICS; ) first = pass.visit(key, slots[s], first);
    });
    pass.end();
    judged = pass.takeCounts().evaluated;
    nowMs += MINUTE_MS;
  };
  cycle();
  const trained = Array.from({ length: MODELS }, () => trainService(jobOf(METRICS)));
  for (const [s, { key, environment, columns }] of pass.takeFound().services.entries()) {
    const { model, state, rows } = trained[s % MODELS];
    const own = {
      model: model.slice(),
      state: state.slice(),
      rows,
      trainedMs: START_MS,
      sampleMs: 0,
      dueMs: Number.MAX_SAFE_INTEGER,
      promoted: null,
    };
    pass.take({ type: "service-model", key, environment, columns, ...own });
  }
  cycle();
  return { cycle, evaluated: () => judged };
}
