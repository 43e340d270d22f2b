// Row 9: a million active streams on one engine: memory, rate, and how long a start takes with all of them.
import { readFileSync, rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { untilFigures } from "../clients/cycle-watch.mjs";
import { shown } from "../measure.mjs";
import { conditions, ratioLine, serverTurn, takeTurns } from "../turns.mjs";

const streams = 1_000_000;
const samplesPerRequest = 2_000;
/** Fills every ring: a stream that was never scored or packed into a chunk is not an active one. 12 samples of a series a request. */
const fill = { series: streams, perRequest: samplesPerRequest, samplesPerSeries: 12, samples: 120 * streams, values: "small" };
/** The rounds that are timed: a sample of every stream each, one second apart, values as before: others would be a million anomalies. */
const rounds = 8;
const env = { SERIES_LIMIT: String(streams + 100_000) };
/** After the last answer: what is still on its way to the store. */
const settleMs = 3_000;
/** Long baselines that the Watchdog keeps unless set otherwise; its first cycle after a start takes them in. */
const longBaselines = 200_000;
const memory = { unit: "bytes", lowerIsBetter: true };

/** @type {import("../turns.mjs").Row} */
export const millionStreams = {
  name: "million-streams",
  what:
    "1,000,000 active streams on one engine, each with a full window of 120 samples (12 of a series a request): resident bytes over those of the empty server a stream; rate of " +
    `${rounds} more rounds, 2,000 series of one sample a request, against 10,000 streams in the same run; time from starting the process to /readyz after kill -9, then after ` +
    "SIGTERM. 5 connections, closed loop, server on one core, files in the page cache",
  quick: false,
  async run(context) {
    const endMs = Math.floor(Date.now() / 1000) * 1000 - 60_000;
    const many = {
      fill: await context.bodies.get("remote-write", { ...fill, endMs: endMs - rounds * 1000 }),
      rounds: await context.bodies.get("remote-write", { ...fill, samplesPerSeries: 1, samples: streams * rounds, endMs }),
    };
    const few = await context.bodies.get("A");
    const turns = await takeTurns(context, {
      "10,000 streams": () => serverTurn(context, "vedette", { file: few, connections: 5, coldRequests: 50 }, { env }),
      "1,000,000 streams": () => manyTurn(context, many),
    });
    const [fewTurns, manyTurns] = [turns["10,000 streams"], turns["1,000,000 streams"]];
    const values = (key) => manyTurns.map((turn) => turn[key]);
    const rates = (results) => results.map(({ warm }) => warm.samplesPerSecond);
    const atMost = (key) => shown(Math.max(...values(key)));
    return {
      lines: [
        {
          label: "resident memory a stream",
          values: values("bytesPerStream"),
          ...memory,
          bar: 2_350,
          goal: 2_048,
          note: `empty server up to ${atMost("emptyMiB")} MiB, peak while loading up to ${atMost("peakMiB")} MiB; measured after the timed rounds; ${atMost("anonymousPerStream")} bytes without what is mapped of files`,
        },
        {
          label: "the same after kill -9, a start and a cycle of the Watchdog",
          values: values("bytesPerStreamAfterCycle"),
          ...memory,
          bar: 3_280,
          goal: 2_970,
          note: `${shown(longBaselines)} long baselines with it; without what is mapped of files and the system may take back, up to ${atMost("mappedPerStream")} bytes a stream`,
        },
        { label: "rate, 1,000,000 streams", values: rates(manyTurns), unit: "samples/s", note: conditions(manyTurns) },
        { label: "rate, 10,000 streams", values: rates(fewTurns), unit: "samples/s", note: conditions(fewTurns) },
        ratioLine("1,000,000 / 10,000 streams", rates(manyTurns), rates(fewTurns), { bar: 0.5, goal: 0.8 }),
        { label: "new streams", values: values("newStreamsPerSecond"), unit: "streams/s", note: "first request of each series" },
        { label: "start after kill -9", values: values("startAfterKillSeconds"), unit: "s", bar: 30, goal: 10, lowerIsBetter: true },
        {
          label: "start after SIGTERM",
          values: values("startAfterStopSeconds"),
          unit: "s",
          bar: 30,
          goal: 10,
          lowerIsBetter: true,
          note: `the stop itself took up to ${atMost("stopSeconds")} s`,
        },
      ],
      notMeasured: [],
    };
  },
};

/** Loads all streams into an empty server, then ends and starts it twice. */
async function manyTurn(context, files) {
  const first = await context.startServer("vedette", { env, keepData: true });
  const { dataDir } = first;
  let server = first;
  try {
    await pause(settleMs);
    const emptyBytes = first.rssBytes();
    const emptyAnonymousBytes = residentBytes(first.pid, "RssAnon");
    const filled = await sendAll(context, first, files.fill, { coldRequests: streams / samplesPerRequest });
    const result = await sendAll(context, first, files.rounds);
    await pause(settleMs);
    await checkStreams(first);
    const bytesPerStream = (first.rssBytes() - emptyBytes) / streams;
    const anonymousPerStream = (residentBytes(first.pid, "RssAnon") - emptyAnonymousBytes) / streams;
    const peakMiB = residentBytes(first.pid, "VmHWM") / 2 ** 20;
    await first.kill();

    const startedAfterKill = await timed(() => context.startServer("vedette", { env, dataDir, keepData: true }));
    server = startedAfterKill.value;
    await checkStreams(server);
    await untilFigures(server, ({ cycles, pairs }) => cycles > 0 && pairs >= longBaselines);
    await pause(settleMs);
    const bytesPerStreamAfterCycle = (residentBytes(server.pid, "RssAnon") - emptyAnonymousBytes) / streams;
    const mappedPerStream = residentBytes(server.pid, "RssFile") / streams;
    const stopped = await timed(() => server.stop());
    const startedAfterStop = await timed(() => context.startServer("vedette", { env, dataDir }));
    server = startedAfterStop.value;
    await checkStreams(server);
    return {
      ...result,
      bytesPerStream,
      anonymousPerStream,
      bytesPerStreamAfterCycle,
      mappedPerStream,
      peakMiB,
      emptyMiB: emptyBytes / 2 ** 20,
      newStreamsPerSecond: streams / filled.cold.seconds,
      startAfterKillSeconds: startedAfterKill.seconds,
      stopSeconds: stopped.seconds,
      startAfterStopSeconds: startedAfterStop.seconds,
    };
  } finally {
    await server.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function sendAll(context, server, file, options = {}) {
  const result = await context.send({ server, file, connections: 5, ...options });
  if (result.firstRefusal !== "") throw new Error(`refused: ${result.firstRefusal}`);
  return result;
}

async function timed(run) {
  const startMs = performance.now();
  const value = await run();
  return { value, seconds: (performance.now() - startMs) / 1000 };
}

/** A start that forgot streams would be a fast one. */
async function checkStreams(server) {
  const held = (await server.metrics()).sum("vedette_streams");
  if (held !== streams) throw new Error(`the server holds ${held} streams, not ${streams}`);
}

function residentBytes(pid, field) {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}
