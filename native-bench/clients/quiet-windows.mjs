// Windows of a turn whose load cannot be sent again: of those in which the hypervisor took our cores a latency says more of the neighbours than of the server. Which
// windows count is decided by the stolen time, never by what was measured.
import { setTimeout as pause } from "node:timers/promises";
import { stolenTicks } from "../measure.mjs";
import { stolenCoresOf, stolenCoresOfLatencyMax } from "../stolen-time.mjs";

const windowMs = 3_000;

/**
 * An end of windows.
 * @typedef {{atMs: number, ticks: number}} Edge  Unix milliseconds, stolen ticks so far
 *
 * @typedef {object} Window
 * @property {number} fromMs
 * @property {number} toMs
 */

/**
 * Looks at the clock of stolen time from `begins` on until it is told that the load is over; one look more then. The server is not asked: a page of metrics
 * took 4 to 10 ms of a young one's core, each 3 s, and what was measured waited for it.
 * @param {Promise<unknown>} begins
 * @returns {{end: () => Promise<Edge[]>}}
 */
export function watchEdges(begins, { everyMs = windowMs, ticks = stolenTicks } = {}) {
  const edges = [];
  const ended = new AbortController();
  const look = () => edges.push({ atMs: Date.now(), ticks: ticks() });
  const looking = (async () => {
    await begins;
    while (!ended.signal.aborted) {
      look();
      await pause(everyMs, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  })();
  looking.catch(() => undefined);
  return {
    end: async () => {
      ended.abort();
      await looking;
      look();
      return edges;
    },
  };
}

/** The windows between edges in which next to nothing was stolen. @returns {Window[]} */
export function quietWindows(/** @type {Edge[]} */ edges) {
  return edges.slice(1).flatMap((edge, place) => {
    const { atMs: fromMs, ticks } = edges[place];
    const stolenCores = stolenCoresOf(edge.ticks - ticks, (edge.atMs - fromMs) / 1000);
    return stolenCores <= stolenCoresOfLatencyMax ? [{ fromMs, toMs: edge.atMs }] : [];
  });
}
