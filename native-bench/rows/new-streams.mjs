// Row 4: how fast streams are taken that were never seen before.
import { conditions, presentPeers, ratioLine, serverTurn, takeTurns } from "../turns.mjs";

const coldRequests = 25;
const peer = "victoria-metrics";

/** @type {import("../turns.mjs").Row} */
export const newStreams = {
  name: "new-streams",
  what: "remote-write in which every sample begins a new series, 2,000 a request; 5 connections, closed loop, server on one core; 25 requests left out",
  quick: false,
  async run(context) {
    const file = await context.bodies.get("new-streams");
    const { present, notMeasured } = presentPeers(context, [peer]);
    const turn = (kind) => () => serverTurn(context, kind, { file, connections: 5, coldRequests });
    const contestants = Object.fromEntries(["vedette", ...present].map((kind) => [kind, turn(kind)]));
    const turns = await takeTurns(context, contestants, { attemptsMax: 3 });
    const rates = (kind) => turns[kind].map(({ warm }) => warm.samplesPerSecond);
    const line = (label, kind) => ({ label, values: rates(kind), unit: "new streams/s", note: conditions(turns[kind]) });
    const lines = [line("Vedette", "vedette")];
    if (present.includes(peer)) {
      lines.push(line("VictoriaMetrics", peer));
      lines.push(ratioLine("Vedette / VictoriaMetrics", rates("vedette"), rates(peer), { bar: 12, goal: 20 }));
    }
    return { lines, notMeasured };
  },
};
