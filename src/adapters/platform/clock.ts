// The only place that reads the machine's clocks. Everything else is given these functions, or values from them.
import { performance } from "node:perf_hooks";
import { hrtime } from "node:process";

export interface Clock {
  /** Milliseconds since 1970, for stamps. */
  wallMs(): number;
  /** Milliseconds on a clock that never steps and is the same for all threads of this process, for durations. */
  monotonicMs(): number;
}

/** Number of comparisons of two clocks, of which the one counts that took the shortest time: in others the thread may have been stopped between them. */
const COMPARISONS = 16;

function hrtimeMs(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/**
 * What performance.now() lacks to the system's monotonic clock, ms. Both read that clock, but performance.now() counts from the start of its thread, of
 * which `timeOrigin` says the wall clock's time; it makes no array, and is asked several times a request. Right to a microsecond.
 */
function threadStartMs(): number {
  let startMs = 0;
  let shortestMs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < COMPARISONS; i++) {
    const beforeMs = performance.now();
    const monotonicMs = hrtimeMs();
    const afterMs = performance.now();
    if (afterMs - beforeMs >= shortestMs) continue;
    shortestMs = afterMs - beforeMs;
    startMs = monotonicMs - (beforeMs + afterMs) / 2;
  }
  return startMs;
}

const startMs = threadStartMs();

/** The machine's clock. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => startMs + performance.now(),
};
