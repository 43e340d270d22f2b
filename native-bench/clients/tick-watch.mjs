// Watches the vectorizer and the detection latency of one server: what anomalies took while a tick ran, and between ticks, in the same minute.
import { setTimeout as pause } from "node:timers/promises";
import { coldPlantCount } from "../bodies/planted.mjs";
import { bucketsOf, quantileOf } from "./detection-turn.mjs";

const pollMs = 250;
const firstTickMsMax = 120_000;

async function figuresOf(server) {
  const metrics = await server.metrics();
  return {
    atMs: performance.now(),
    ticks: metrics.sum("vedette_vectorizer_ticks_total"),
    workMs: 1000 * metrics.sum("vedette_vectorizer_work_seconds_total"),
    durationMs: 1000 * metrics.sum("vedette_vectorizer_tick_seconds"),
    streams: metrics.sum("vedette_vectorizer_streams"),
    buckets: bucketsOf(metrics.text),
  };
}

/** The tick that looks at all names and compiles its way, which comes before the load. */
export async function firstTick(server) {
  for (const deadline = performance.now() + firstTickMsMax; performance.now() < deadline; ) {
    const figures = await figuresOf(server);
    if (figures.ticks > 0) return figures;
    await pause(pollMs);
  }
  throw new Error("no tick of the vectorizer came to its end");
}

/** Looks until the server has ended; what the returned function gives is of the ticks behind the first. */
export function watchTicks(server, first) {
  let isOver = false;
  const looks = [first];
  const watching = (async () => {
    while (!isOver) {
      try {
        looks.push(await figuresOf(server));
      } catch {
        // The server has ended, or is ending.
      }
      await pause(pollMs);
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    const last = looks.at(-1);
    const ticks = last.ticks - first.ticks;
    if (ticks <= 0) throw new Error("no tick of the vectorizer came to its end beside the load");
    const { durationMs, streams } = last;
    const workMs = (last.workMs - first.workMs) / ticks;
    return { firstMs: first.workMs, ticks, workMs, durationMs, streams, ...latencies(looks) };
  };
}

/** p99 of what was stored between two looks that lie within a tick, and between two that touch none; the cold plants are left out. */
function latencies(looks) {
  const windows = looks.flatMap(({ ticks, atMs, durationMs }, i) =>
    i > 0 && ticks > looks[i - 1].ticks ? [{ fromMs: atMs - pollMs - durationMs, toMs: atMs }] : [],
  );
  const sums = { within: [], between: [] };
  for (let i = 1; i < looks.length; i++) {
    if ((looks[i - 1].buckets.at(-1)?.count ?? 0) < coldPlantCount) continue;
    const [fromMs, toMs] = [looks[i - 1].atMs, looks[i].atMs];
    const touching = windows.filter((window) => window.fromMs < toMs && window.toMs > fromMs);
    const isWithin = touching.some((window) => window.fromMs <= fromMs && window.toMs >= toMs);
    // What is not known yet to be a tick at the end is none that can be judged.
    if ((!isWithin && touching.length > 0) || fromMs > (windows.at(-1)?.toMs ?? 0)) continue;
    const sum = isWithin ? sums.within : sums.between;
    looks[i].buckets.forEach(({ boundMs, count }, place) => {
      sum[place] = { boundMs, count: (sum[place]?.count ?? 0) + count - (looks[i - 1].buckets[place]?.count ?? 0) };
    });
  }
  return { within: quantileOf(sums.within, 0.99), between: quantileOf(sums.between, 0.99) };
}
