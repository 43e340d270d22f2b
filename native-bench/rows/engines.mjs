// Row 12: what more engines bring. With cores enough it is the rate that counts; with few, whether sharing out costs CPU.
import { availableParallelism } from "node:os";
import { splitBodies } from "../bodies/body-split.mjs";
import { ratios } from "../measure.mjs";
import { serverSession, takeRounds } from "../rounds.mjs";
import { conditions, SATURATION_COLD_REQUESTS } from "../turns.mjs";

const connectionsPerEngine = 4;
const engineCounts = [1, 2, 4, 8];
/** 32 shards: each of 4, 8, 16 and 32 connections gets the same number of them. */
const shape = { series: 64_000, perRequest: 2_000 };
/**
 * Each thread compiles its own code, and parses the labels of every series that it is given for the first time, and which one takes a body is chance. V8's threads have
 * little of a few cores and are seconds behind; in a rest they catch up. Then the rest of what is compiled late, which is little.
 */
const firstRequests = 6_000;
const restMs = 5_000;
const coldRequestsPerEngine = 500;
const smallMachineCores = 4;
/** Beside the engines: the main thread, the coordinator, and the sender on its own core. */
const coresBesideEngines = 3;
const marks = { bar: 0.8, goal: 0.95 };

/** @type {import("../turns.mjs").Row} */
export const engines = {
  name: "engines",
  what:
    "remote-write over 64,000 series, 2,000 samples a request, closed loop, by number of engines with 4 connections each; 6,000 requests and 5 s of rest left out, and 500 requests an engine, of fewer than four engines 2,000. On a machine of more than 4 cores " +
    "the rate against as many times that of one engine; server on all cores but the last, sender on the last. On a smaller one CPU a sample of the whole server on all " +
    "cores, the one of one engine over it; engines beyond the number of cores share threads, so what a thread costs is not in it",
  quick: false,
  async run(context) {
    const cores = availableParallelism();
    const isSmall = cores <= smallMachineCores;
    const counts = isSmall ? engineCounts : engineCounts.filter((count) => count + coresBesideEngines <= cores);
    const samples = firstRequests * shape.perRequest + (isSmall ? 24_000_000 : 40_000_000);
    const { head: firstFile, tail: file } = splitBodies(await context.bodies.get("remote-write", { ...shape, samples }), firstRequests);
    const pinned = isSmall ? { server: `0-${cores - 1}`, sender: `0-${cores - 1}` } : { server: `0-${cores - 2}`, sender: cores - 1 };
    const turn = (count) => () => {
      const coldRequests = Math.max(SATURATION_COLD_REQUESTS, coldRequestsPerEngine * count);
      const sending = { firstFile, file, connections: connectionsPerEngine * count, coldRequests, core: pinned.sender };
      return serverSession(context, "vedette", sending, { core: pinned.server, env: { ENGINES: String(count) } });
    };
    const turns = await takeRounds(context, Object.fromEntries(counts.map((count) => [nameOf(count), turn(count)])), {
      ...context.warm,
      restMs,
    });
    const byCount = counts.map((count) => ({ count, results: turns[nameOf(count)] }));
    const missing = engineCounts.filter((count) => !counts.includes(count));
    const notMeasured = [
      ...(missing.length > 0 ? [`${missing.join(", ")} engines: this machine has ${cores} cores`] : []),
      ...(isSmall ? [`rates by engines, and more than ${cores} threads of engines: this machine has ${cores} cores`] : []),
    ];
    return { lines: isSmall ? cpuLines(byCount) : rateLines(byCount), notMeasured };
  },
};

function nameOf(count) {
  return `${count} engine${count === 1 ? "" : "s"}`;
}

function rateLines(byCount) {
  const rates = (results) => results.map(({ warm }) => warm.samplesPerSecond);
  const [{ results: alone }] = byCount;
  return byCount.flatMap(({ count, results }) => {
    const linear = rates(alone).map((rate) => rate * count);
    const measured = { label: nameOf(count), values: rates(results), unit: "samples/s", note: conditions(results) };
    if (count === 1) return [measured];
    return [measured, { label: `${nameOf(count)} / ${count} x 1 engine`, values: ratios(rates(results), linear), unit: "x", ...marks }];
  });
}

function cpuLines(byCount) {
  const cpu = (results) => results.map(({ warm }) => (warm.serverCpuSeconds / warm.samples) * 1e6);
  const [{ results: alone }] = byCount;
  return byCount.flatMap(({ count, results }) => {
    const measured = { label: nameOf(count), values: cpu(results), unit: "us of CPU a sample", note: conditions(results) };
    if (count === 1) return [measured];
    return [
      measured,
      { label: `CPU a sample, 1 engine / ${nameOf(count)}`, values: ratios(cpu(alone), cpu(results)), unit: "x", ...marks },
    ];
  });
}
