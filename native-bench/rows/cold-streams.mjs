// Bounded: streams without samples leave memory, others take their place, and they come back with their state.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { shown } from "../measure.mjs";
import { takeTurns } from "../turns.mjs";

const streams = 100_000;
const samplesPerSeries = 12;
const fill = { series: streams, perRequest: 2_000, samplesPerSeries, samples: samplesPerSeries * streams, values: "small" };
/** 108 s, counted from the newest sample, which is a minute old when it is sent; four engines look through all partitions in about a minute. */
const env = { STREAM_IDLE_HOURS: "0.03", ENGINES: "4" };
const settleMs = 3_000;
const pollMs = 50;
const waitMsMax = 240_000;

/** @type {import("../turns.mjs").Row} */
export const coldStreams = {
  name: "cold-streams",
  what:
    "100,000 streams of 12 samples that then have none (STREAM_IDLE_HOURS=0.03): resident bytes a stream, without pages of files; how many bytes more a stream once they have left memory and 100,000 " +
    "others have come; how fast the first come back, 12 samples of a series a request, 5 connections, closed loop. One turn: leaving takes a minute and a half. 4 engines on one core",
  quick: false,
  async run(context) {
    const endMs = Math.floor(Date.now() / 1000) * 1000 - 60_000;
    const stepMs = 1000;
    const first = await context.bodies.get("remote-write", { ...fill, endMs: endMs - samplesPerSeries * stepMs });
    const again = await context.bodies.get("remote-write", { ...fill, endMs });
    const others = await context.bodies.get("new-streams", { requests: streams / 2_000, perRequest: 2_000, firstSeries: streams });
    const turns = await takeTurns({ ...context, repeats: 1 }, { cold: () => coldTurn(context, { first, others, again }) });
    const of = (key) => turns.cold.map((turn) => turn[key]);
    return {
      lines: [
        { label: "resident memory a stream", values: of("bytesPerStream"), unit: "bytes" },
        { label: "more for each stream that left and was replaced", values: of("bytesPerReplaced"), unit: "bytes", lowerIsBetter: true },
        {
          label: "all have left after",
          values: of("leaveSeconds"),
          unit: "s",
          note: "the newest sample is 72 s old when sent and leaves at 108 s",
        },
        {
          label: "streams come back",
          values: of("returnsPerSecond"),
          unit: "streams/s",
          note: turns.cold.map(({ warm }) => `p99 ${shown(warm.p99Ms)} ms`).join(", "),
        },
      ],
      notMeasured: [],
    };
  },
};

async function coldTurn(context, { first, others, again }) {
  const server = await context.startServer("vedette", { env });
  const send = async (file) => {
    const result = await context.send({ server, file, connections: 5 });
    if (result.firstRefusal !== "") throw new Error(`refused: ${result.firstRefusal}`);
    return result;
  };
  try {
    await pause(settleMs);
    const emptyBytes = ownBytes(server.pid);
    await send(first);
    await pause(settleMs);
    const warmBytes = ownBytes(server.pid);
    const leaveSeconds = (await untilMetric(server, "vedette_streams_evicted", streams)) + settleMs / 1000;
    await send(others);
    await pause(settleMs);
    const replacedBytes = ownBytes(server.pid);
    const result = await send(again);
    const returnSeconds = (await untilMetric(server, "vedette_samples_total", streams * (2 * samplesPerSeries + 1))) + result.seconds;
    return {
      ...result,
      bytesPerStream: (warmBytes - emptyBytes) / streams,
      bytesPerReplaced: (replacedBytes - warmBytes) / streams,
      leaveSeconds,
      returnsPerSecond: streams / returnSeconds,
    };
  } finally {
    await server.kill();
  }
}

/** Resident memory without pages of files: the store's are mapped, and the system may drop them. */
function ownBytes(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const of = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
  return of("RssAnon") + of("RssShmem");
}

/** Seconds until a metric has a value. */
async function untilMetric(server, name, wanted) {
  const startMs = performance.now();
  for (;;) {
    const value = (await server.metrics()).sum(name);
    const elapsedMs = performance.now() - startMs;
    if (value === wanted) return elapsedMs / 1000;
    if (elapsedMs > waitMsMax) throw new Error(`${name} is ${value}, not ${wanted}`);
    await pause(pollMs);
  }
}
