// What the first requests after a start cost beside those of a server that is warm: what is compiled and sized only then is in them.
import { splitBodies } from "../bodies/body-split.mjs";
import { ratios, shownRange } from "../measure.mjs";
import { checkTurn, conditions, presentPeers, ratioLine, SATURATION_COLD_REQUESTS, serverTurn, startTurn, takeTurns } from "../turns.mjs";

const FIRST_REQUESTS = 1_000;
const PEER_COLD_REQUESTS = 500;
const peer = "victoria-metrics";

/** @type {import("../turns.mjs").Row} */
export const firstRequests = {
  name: "first-requests",
  what:
    `remote-write, 10,000 series, 2,000 samples a request; 5 connections, closed loop, server on one core: the first ${FIRST_REQUESTS} requests after a start on an empty folder, ` +
    `beside those of the same server from the ${SATURATION_COLD_REQUESTS + 1}st on, and beside VictoriaMetrics warm`,
  quick: false,
  async run(context) {
    const file = await context.bodies.get("A", context.quick ? { samples: 7_000_000 } : {});
    const parts = splitBodies(file, FIRST_REQUESTS);
    const { present, notMeasured } = presentPeers(context, [peer]);
    const contestants = { vedette: () => firstTurn(context, parts) };
    if (present.includes(peer)) {
      contestants[peer] = async () => (await serverTurn(context, peer, { file, connections: 5, coldRequests: PEER_COLD_REQUESTS })).warm;
    }
    const turns = await takeTurns(context, contestants, { attemptsMax: 3 });
    return { lines: lines(turns.vedette, turns[peer]), notMeasured };
  },
};

/** The phases of one server: `first` and `warm`; what lies between them is in neither. */
async function firstTurn(context, { head, tail }) {
  const { server, first } = await startTurn(context, "vedette", { firstFile: head, connections: 5 });
  try {
    const coldRequests = (context.quick ? FIRST_REQUESTS + 500 : SATURATION_COLD_REQUESTS) - FIRST_REQUESTS;
    const result = await context.send({ server, file: tail, connections: 5, coldRequests, seconds: context.warmSeconds });
    await checkTurn(server, result, first);
    return { ...result, first: first.warm };
  } finally {
    await server.kill();
  }
}

function lines(ours, theirs) {
  const rates = (phase) => ours.map((turn) => turn[phase].samplesPerSecond);
  const cpu = (phase) => ours.map((turn) => (turn[phase].serverCpuSeconds / turn[phase].samples) * 1e6);
  const cpuNote = (phase) => `${shownRange(cpu(phase))} us of CPU a sample`;
  const own = [
    { label: `first ${FIRST_REQUESTS}`, values: rates("first"), unit: "samples/s", note: cpuNote("first") },
    { label: "warm", values: rates("warm"), unit: "samples/s", note: `${cpuNote("warm")}; ${conditions(ours)}` },
    ratioLine("first / warm, rate", rates("first"), rates("warm"), {
      bar: 0.9,
      note: `CPU a sample ${shownRange(ratios(cpu("first"), cpu("warm")))} of the warm`,
    }),
  ];
  if (theirs === undefined) return own;
  const peerRates = theirs.map(({ samplesPerSecond }) => samplesPerSecond);
  return [...own, ratioLine("first / VictoriaMetrics, warm", rates("first"), peerRates, { bar: 5.4, goal: 7.2 })];
}
