// Watches the Watchdog's cycles of one server.
import { setTimeout as pause } from "node:timers/promises";

const pollMs = 250;
const waitMsMax = 240_000;

async function figuresOf(server) {
  const metrics = await server.metrics();
  return {
    cycles: metrics.sum("vedette_watchdog_cycles_total"),
    workMs: 1000 * metrics.sum("vedette_watchdog_work_seconds_total"),
    durationMs: 1000 * metrics.sum("vedette_watchdog_cycle_seconds"),
    pairs: metrics.sum("vedette_watchdog_pairs"),
    saturated: metrics.sum("vedette_saturation_series"),
    models: metrics.sum("vedette_service_models_trained_total") + metrics.sum("vedette_service_models_loaded_total"),
    modelsWaiting: metrics.sum("vedette_watchdog_services_waiting"),
  };
}

/** Resolves with the figures once they are as wanted. */
export async function untilFigures(server, /** @type {(figures: object) => boolean} */ areWanted) {
  for (const deadline = performance.now() + waitMsMax; performance.now() < deadline; ) {
    const figures = await figuresOf(server);
    if (areWanted(figures)) return figures;
    await pause(pollMs);
  }
  throw new Error(`the Watchdog has not come so far: ${JSON.stringify(await figuresOf(server))}`);
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
    return { ...last, cycles, workMs: (last.workMs - first.workMs) / cycles, longestMs: Math.max(...durations) };
  };
}
