// Rows 1 to 3 of the table: remote-write in a closed loop against the peers and the native limit.
import { ratios, shown, shownRange } from "../measure.mjs";
import { limitSession, serverSession, takeRounds } from "../rounds.mjs";
import { conditions, presentPeers, ratioLine, SATURATION_COLD_REQUESTS } from "../turns.mjs";

const connections = 5;
/** What is compiled before it starts is warm sooner: with 500 left out or 2,000 the peers' rates differed no more than from turn to turn, and 2,000 take Prometheus half a minute. */
const PEER_COLD_REQUESTS_MAX = 500;
const PEER_NAMES = { "victoria-metrics": "VictoriaMetrics", prometheus: "Prometheus", limit: "native limit" };

/**
 * A row: `bars` holds {bar, goal} by peer, "limit" being the native limit.
 * @param {{name: string, what: string, shape: string, coldRequests: number, bars: Record<string, {bar: number, goal: number}>, quick?: boolean}} plan
 * @returns {import("../turns.mjs").Row}
 */
function makeRow({ name, what, shape, coldRequests, bars, quick = false }) {
  return { name, what, quick, run: (context) => run(context, { shape, coldRequests, bars }) };
}

async function run(context, { shape, coldRequests, bars }) {
  const file = await context.bodies.get(shape, context.quick ? { samples: 7_000_000 } : {});
  const wanted = Object.keys(bars).filter((kind) => !context.quick || kind !== "prometheus");
  const { present, notMeasured } = presentPeers(context, wanted);
  const server = (kind, cold) => () => serverSession(context, kind, { file, connections, coldRequests: cold });
  const contestants = { vedette: server("vedette", coldRequests) };
  const peerCold = Math.min(coldRequests, PEER_COLD_REQUESTS_MAX);
  for (const kind of present)
    contestants[kind] = kind === "limit" ? () => limitSession(context, file, coldRequests) : server(kind, peerCold);
  const turns = await takeRounds(context, contestants, context.warm);
  const rates = Object.fromEntries(
    Object.entries(turns).map(([kind, results]) => [kind, results.map(({ warm }) => warm.samplesPerSecond)]),
  );
  const lines = Object.entries(rates).map(([kind, values]) => ({
    label: PEER_NAMES[kind] ?? "Vedette",
    values,
    unit: "samples/s",
    note: kind === "limit" ? "CPU time of one core, no HTTP, nothing stored" : serverNote(turns[kind]),
  }));
  for (const kind of present) {
    const marks = {
      ...bars[kind],
      note: kind === "limit" ? undefined : `by CPU a sample ${shownRange(cpuRatios(turns[kind], turns.vedette))}`,
    };
    lines.push(ratioLine(`Vedette / ${PEER_NAMES[kind]}`, rates.vedette, rates[kind], marks));
  }
  return { lines, notMeasured };
}

const cpuMicroseconds = (results) => results.map(({ warm }) => (warm.serverCpuSeconds / warm.samples) * 1e6);

/** What the peer's CPU is of Vedette's, a sample: bystanders move it less than the rates. */
function cpuRatios(peer, vedette) {
  return ratios(cpuMicroseconds(peer), cpuMicroseconds(vedette));
}

function serverNote(results) {
  const cpu = cpuMicroseconds(results);
  const p99 = Math.max(...results.map(({ warm }) => warm.p99Ms));
  return `${shownRange(cpu)} us of CPU a sample, p99 up to ${shown(p99)} ms; ${conditions(results)}`;
}

export const tenThousandSeries = makeRow({
  name: "remote-write-10k",
  what: "remote-write, 10,000 series, 2,000 samples a request; 5 connections, closed loop, server on one core, sender on the other; 2,000 requests left out, of peers 500",
  shape: "A",
  coldRequests: SATURATION_COLD_REQUESTS,
  bars: { "victoria-metrics": { bar: 6, goal: 8 }, prometheus: { bar: 23, goal: 35 }, limit: { bar: 0.45, goal: 0.6 } },
  quick: true,
});

export const hundredThousandSeries = makeRow({
  name: "remote-write-100k",
  what: "the same over 100,000 series; 2,000 requests left out, so that each series was seen forty times, of peers 500",
  shape: "B",
  coldRequests: 2_000,
  bars: { "victoria-metrics": { bar: 5.5, goal: 8 }, prometheus: { bar: 13, goal: 24 } },
});

export const tenSamplesASeries = makeRow({
  name: "remote-write-10-samples",
  what: "1,000 series x 10 samples a request, 10,000 series in all; 600 requests left out, of peers 500",
  shape: "C",
  coldRequests: 600,
  bars: { "victoria-metrics": { bar: 5.5, goal: 6 }, prometheus: { bar: 7, goal: 13 } },
});
