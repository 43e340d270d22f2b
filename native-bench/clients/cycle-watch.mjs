// Watches the Watchdog's cycles of one server, and keeps all its long baselines busy: each cycle finds a new value of every series.
import { setTimeout as pause } from "node:timers/promises";

const pollMs = 250;
const firstCycleMsMax = 180_000;

async function figuresOf(server) {
  const metrics = await server.metrics();
  return {
    cycles: metrics.sum("vedette_watchdog_cycles_total"),
    workMs: 1000 * metrics.sum("vedette_watchdog_work_seconds_total"),
    durationMs: 1000 * metrics.sum("vedette_watchdog_cycle_seconds"),
    pairs: metrics.sum("vedette_watchdog_pairs"),
  };
}

/** Resolves once as many series have a baseline as there are and that cycle is over: the first one takes their whole past in. */
export async function ripePairs(server, pairs) {
  let cycles = Number.POSITIVE_INFINITY;
  for (const deadline = performance.now() + firstCycleMsMax; performance.now() < deadline; ) {
    const figures = await figuresOf(server);
    if (figures.pairs < pairs) cycles = figures.cycles;
    else if (figures.cycles > cycles + 1) return figures;
    await pause(pollMs);
  }
  throw new Error("the Watchdog has not taken in what was loaded");
}

/** Looks until the server has ended; what the returned function gives is of the cycles behind `first`. */
export function watchCycles(server, first) {
  let isOver = false;
  let last = first;
  const durations = [];
  const watching = (async () => {
    while (!isOver) {
      try {
        const figures = await figuresOf(server);
        if (figures.cycles > last.cycles) durations.push(figures.durationMs);
        last = figures;
      } catch {
        // The server has ended, or is ending.
      }
      await pause(pollMs);
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    const cycles = last.cycles - first.cycles;
    if (cycles <= 0 || durations.length === 0) throw new Error("no cycle of the Watchdog came to its end beside the load");
    return { cycles, pairs: last.pairs, workMs: (last.workMs - first.workMs) / cycles, longestMs: Math.max(...durations) };
  };
}
