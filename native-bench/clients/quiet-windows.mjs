// Windows of a turn whose load cannot be sent again: of those in which the hypervisor took our cores a latency says more of the neighbours than of the server. Which
// windows count is decided by the stolen time, never by what was measured.
import { setTimeout as pause } from "node:timers/promises";
import { stolenTicks } from "../measure.mjs";
import { stolenCoresOf, stolenCoresOfLatencyMax } from "../stolen-time.mjs";

const windowMs = 3_000;

/**
 * An end of windows.
 * @typedef {{atMs: number, ticks: number, text: string}} Edge  Unix milliseconds, stolen ticks so far, the server's page of metrics
 *
 * @typedef {object} Window
 * @property {number} fromMs
 * @property {number} toMs
 * @property {string} before   page of metrics at its beginning
 * @property {string} after
 */

/**
 * Looks at a server from `begins` on until it is told that the load is over; one look more then. A page takes the server some ms, once a window.
 * @param {{metrics: () => Promise<{text: string}>}} server
 * @param {Promise<unknown>} begins
 * @returns {{end: () => Promise<Edge[]>}}
 */
export function watchEdges(server, begins, { everyMs = windowMs, ticks = stolenTicks } = {}) {
  const edges = [];
  const ended = new AbortController();
  const look = async () => edges.push({ atMs: Date.now(), ticks: ticks(), text: (await server.metrics()).text });
  const looking = (async () => {
    await begins;
    while (!ended.signal.aborted) {
      await look();
      await pause(everyMs, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  })();
  looking.catch(() => undefined);
  return {
    end: async () => {
      ended.abort();
      await looking;
      await look();
      return edges;
    },
  };
}

/** The windows between edges in which next to nothing was stolen. @returns {Window[]} */
export function quietWindows(/** @type {Edge[]} */ edges) {
  return edges.slice(1).flatMap((edge, place) => {
    const { atMs: fromMs, ticks, text: before } = edges[place];
    const stolenCores = stolenCoresOf(edge.ticks - ticks, (edge.atMs - fromMs) / 1000);
    return stolenCores <= stolenCoresOfLatencyMax ? [{ fromMs, toMs: edge.atMs, before, after: edge.text }] : [];
  });
}
