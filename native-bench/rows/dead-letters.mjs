// A large dead-letter queue replayed beside a load: how long it takes, what it does to detection, and that each letter enters once.
import { replayTurn } from "../clients/replay-turn.mjs";
import { shown } from "../measure.mjs";
import { saturationTurn, takeTurns } from "../turns.mjs";

const letters = { whole: 200_000, quick: 100_000 };
const samplesPerRequest = 2_000;

/** @type {import("../turns.mjs").Row} */
export const deadLetters = {
  name: "dead-letters",
  what:
    `replay of ${shown(letters.whole)} dead letters (--quick: ${shown(letters.quick)}), JSON metrics of 10,000 streams that were refused for SERIES_LIMIT, after a restart with the usual limit, ` +
    "beside a load of half of what saturates the server (open loop, 10,000 series, those of another tenant every 14,650 requests, one anomaly in each fourth): its time, and the detection latency of planted " +
    "anomalies meanwhile. Once, whatever the repeats",
  quick: false,
  async run(context) {
    const count = letters[context.quick ? "quick" : "whole"];
    const files = {
      refused: await context.bodies.get("refused-records", { records: count }),
      planted: await context.bodies.get("planted"),
      saturating: await context.bodies.get("A"),
    };
    let rate = 0;
    const turns = await takeTurns(
      { ...context, repeats: 1 },
      {
        saturation: async () => {
          const result = await saturationTurn(context, files.saturating);
          rate = result.warm.samplesPerSecond;
          return result;
        },
        replay: () => replayTurn(context, { ...files, letters: count, requestsPerSecond: rate / 2 / samplesPerRequest }),
      },
    );
    return { lines: replayLines(turns.replay, count), notMeasured: [] };
  },
};

function replayLines(turns, count) {
  const list = (numbers) => numbers.map(shown).join(", ");
  return [
    {
      label: "detection p99, stored, beside the replay",
      values: turns.map(({ meanwhile }) => meanwhile.p99Ms),
      unit: "ms",
      bar: 100,
      lowerIsBetter: true,
      note: `interpolated in its bucket, at most ${list(turns.map(({ meanwhile }) => meanwhile.boundMs))} ms; ${list(turns.map(({ meanwhile }) => meanwhile.count))} anomalies; ${list(turns.map(({ loadRate }) => loadRate))} samples/s`,
    },
    {
      label: "the same before it",
      values: turns.map(({ before }) => before.p99Ms),
      unit: "ms",
      note: `${list(turns.map(({ before }) => before.count))} anomalies of the load alone`,
    },
    {
      label: "replay",
      values: turns.map(({ seconds }) => count / seconds),
      unit: "letters/s",
      note: `each entered once; server ${list(turns.map(({ cores }) => cores))} cores`,
    },
    {
      label: "replay of all",
      values: turns.map(({ seconds }) => seconds),
      unit: "s",
      note: `they came in ${list(turns.map(({ fillSeconds }) => fillSeconds))} s`,
    },
    { label: "resident memory after it", values: turns.map(({ rssMiB }) => rssMiB), unit: "MiB" },
    { label: "anomalies stored / planted", values: turns.map(({ stored, planted }) => stored / planted), unit: "x", bar: 1 },
  ];
}
