// What an anomaly costs, from its sample to the stored episode, alert, ledger and analysis: CPU of the whole server.
import { anomalyTurn, BURSTS } from "../clients/anomaly-turn.mjs";
import { shownRange } from "../measure.mjs";
import { takeTurns } from "../turns.mjs";

/** Milliseconds of CPU an anomaly: 0.4 of what 6fabb47 took. Seen, and what is judged beside another checkout: before-after.mjs. */
const marks = { single: { bar: 0.8 }, "at once": { bar: 0.8 }, storm: { bar: 0.8 } };
const SEEN = { bar: 3_000, goal: 1_000, lowerIsBetter: true };
const NEIGHBOUR = { bar: 50, goal: 20, lowerIsBetter: true };

/** @type {import("../turns.mjs").Row} */
export const anomalyCost = {
  name: "anomaly-cost",
  what:
    "CPU of the whole server an anomaly, beyond the same requests with ordinary values, one a series behind 160 values: 1,000 in single requests at 100 a " +
    "second, 2,000 in two requests, 10,000 within 10 s over 1,000 services; a fresh server each turn, so the first of them are compiled as well",
  quick: false,
  async run(context) {
    const contestants = Object.fromEntries(Object.entries(BURSTS).map(([name, burst]) => [name, () => anomalyTurn(context, burst)]));
    const turns = await takeTurns(context, contestants);
    const lines = Object.entries(turns).flatMap(([name, results]) => costLines(name, BURSTS[name], results));
    return { lines, notMeasured: ["allocation an anomaly"] };
  },
};

function costLines(name, { anomalies }, results) {
  const stored = Math.min(...results.map((result) => result.stored));
  const ordinary = `an ordinary record ${shownRange(results.map(({ ordinaryMs }) => ordinaryMs))} ms`;
  return [
    {
      label: `${name}: CPU an anomaly`,
      values: results.map(({ cpuMs }) => cpuMs),
      unit: "ms",
      ...marks[name],
      lowerIsBetter: true,
      note: `${ordinary}; at least ${stored} of ${anomalies} stored`,
    },
    {
      label: `${name}: all stored after the last answer`,
      values: results.map(({ seenMs }) => seenMs),
      unit: "ms",
      ...SEEN,
      note: "asked for four times a second",
    },
    {
      label: `${name}: p99 of a neighbour's single requests, above that beside ordinary values`,
      values: results.map(({ neighbour: { aloneMs, besideMs } }) => besideMs - aloneMs),
      unit: "ms",
      ...NEIGHBOUR,
      note: `beside ordinary values ${shownRange(results.map(({ neighbour }) => neighbour.aloneMs))} ms`,
    },
  ];
}
