// CPU time and memory of the parts of root-cause analysis that are the coordinator's: the built functions with made-up evidence, one thread.
// usage: node --expose-gc root-cause-loop.mjs analyse|storm|similar repeats ▶ {cpuMs: [of each repeat], mb, incidents}

import { analyse } from "../../dist/domain/rca/analysis.js";
import { departureOf } from "../../dist/domain/rca/departure.js";
import { SeriesPacker, unpackSeries } from "../../dist/domain/rca/evidence-packing.js";
import { RunningIncidents } from "../../dist/domain/rca/incident-group.js";
import { ringWindows } from "../../dist/domain/rca/ring-windows.js";
import { packName, ReportedNames } from "../../dist/domain/rca/series-names.js";
import { IncidentMemory } from "../../dist/modules/analysis/incident-memory.js";

const services = 200;
const metrics = [
  "cpu_percent",
  "memory_mib",
  "disk_used_percent",
  "http.server.duration_ms.p95",
  "errors",
  "requests",
  "pool_in_use",
  "gc_pause_ms",
];
const copies = 5;
const values = 120;
const stepMs = 10_000;
const startMs = Date.UTC(2026, 0, 31, 12);
const onsetMs = startMs + (values - 12) * stepMs;
const untilMs = startMs + values * stepMs;
const remembered = 100_000;
const pairs = 10_000;

let state = 7;
const random = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
};
const cpuMs = (work) => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};
const megabytes = () => {
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
};

/** 8,000 series, one service of which breaks, as the engines pack them. */
function packed() {
  const names = [];
  const packer = new SeriesPacker();
  for (let service = 0; service < services; service++) {
    for (const metric of metrics) {
      for (let copy = 0; copy < copies; copy++) {
        const isBroken = service === 17 && metric === "cpu_percent";
        const times = Float64Array.from({ length: values }, (_, i) => startMs + i * stepMs);
        const ring = Float64Array.from(
          { length: values },
          (_, i) => 50 + 5 * (random() + random() - 1) + (isBroken && times[i] >= onsetMs ? 45 : 0),
        );
        const cut = ringWindows(times, ring, values, { onsetMs, untilMs });
        packer.add({ name: names.length, departure: departureOf(cut.windows), onsetMs });
        names.push(packName({ serviceId: `service-${service}`, metricName: metric, instance: `i-${copy}`, peer: null }));
      }
    }
  }
  return { names, numbers: packer.take() };
}

const edges = Array.from({ length: services - 1 }, (_, i) => [`service-${Math.floor(i / 3)}`, `service-${i + 1}`]);

function analyseLoop(repeats) {
  const { names, numbers } = packed();
  const told = new ReportedNames();
  told.learn({ namesFrom: 0, names });
  const once = () => {
    const series = unpackSeries(numbers, (number) => told.of(number)).map(({ one }) => one);
    const nothing = { lines: [], operations: [], calls: [], changes: [], saturated: [], silent: [] };
    return analyse({ onsetMs, untilMs, target: null, series, edges, ...nothing });
  };
  const [first] = once().candidates;
  if (first?.serviceId !== "service-17") throw new Error(`the broken service is not the first candidate: ${first?.serviceId}`);
  return { cpuMs: Array.from({ length: repeats }, () => cpuMs(once)), series: names.length };
}

function stormLoop(repeats) {
  const runs = Array.from({ length: repeats }, () => {
    const running = new RunningIncidents({ membersMax: 200, shares: { take: () => true, give: () => undefined } });
    const spent = cpuMs(() => {
      for (let i = 0; i < pairs; i++) {
        const anomaly = {
          id: `anomaly-${i}`,
          tenant: "default",
          environment: "prod",
          serviceId: `service-${i % services}`,
          metricName: `metric-${i}`,
          startedAtMs: startMs,
        };
        running.take(anomaly, startMs + i);
      }
    });
    return { spent, incidents: running.size };
  });
  return { cpuMs: runs.map(({ spent }) => spent), incidents: Math.max(...runs.map(({ incidents }) => incidents)) };
}

const signature = () => Float32Array.from({ length: 40 }, () => (random() < 0.6 ? 0 : random()));

function similarLoop(repeats) {
  const memory = new IncidentMemory({ get: () => undefined, range: () => [] });
  const before = megabytes();
  for (let i = 0; i < remembered; i++) {
    const incidentId = i.toString(16).padStart(32, "0");
    const packedSignature = Array.from(signature(), (value) => Math.round(127 * value));
    const serviceId = `service-${i % services}`;
    const affected = [`service-${(i + 1) % services}`, `service-${(i + 2) % services}`];
    const of = {
      tenant: "default",
      environment: "prod",
      incidentId,
      reportId: incidentId,
      serviceId,
      category: "application",
      atMs: startMs + i,
    };
    memory.put({ ...of, enough: true, affected, signature: packedSignature, resolution: null });
  }
  const mb = megabytes() - before;
  const spent = Array.from({ length: repeats }, () => {
    const wanted = signature();
    return cpuMs(() => memory.nearest("default", "prod", wanted, 5, ""));
  });
  return { cpuMs: spent, mb, incidents: memory.all("default").length };
}

const [shape, repeats = "20"] = process.argv.slice(2);
const loops = { analyse: analyseLoop, storm: stormLoop, similar: similarLoop };
console.log(JSON.stringify(loops[shape](Number(repeats))));
