// Row 7: how long an answer takes at a load that both sides carry easily.
import { splitBodies } from "../bodies/body-split.mjs";
import { serverSession, takeRounds } from "../rounds.mjs";
import { stolenCoresOfLatencyMax } from "../stolen-time.mjs";
import { conditions, presentPeers, ratioLine } from "../turns.mjs";

const samplesPerSecond = 50_000;
const samplesPerRequest = 2_000;
/** Sent in a closed loop before, left out: seven minutes of this load. A server that compiles as it goes would else do so through all that is measured. */
const firstRequests = 10_000;
/** Then both servers may merge, collect and compile for so long, and what they do now and then is done a few times. */
const restMs = 30_000;
/** The sender's own core sleeps between requests; woken for one or for its answer it was up to 2.5 ms late, which is no server's time. */
const wakeMs = 2;
/** These are left out too, at four times the rate; 400 are measured, so that four of them stand above the p99. */
const coldRequests = 50;
/** A p99 is made of four requests, and one moment in which the hypervisor has our cores delays as many: short rounds, of which many may be taken again. */
const rounds = { rounds: 8, seconds: 2, restMs, spareRounds: 4, stolenCoresMax: stolenCoresOfLatencyMax };
/** With those that may be taken again, and with what is left out at the beginning of each. */
const warmSeconds = (rounds.rounds + rounds.spareRounds) * (rounds.seconds + 0.3);
const peer = "victoria-metrics";

/** @type {import("../turns.mjs").Row} */
export const answerLatency = {
  name: "answer-latency",
  what:
    "answer p99 at a fixed 50,000 samples/s: open loop, 25 requests of 2,000 samples a second over 10,000 series and 5 connections, latency from the " +
    "scheduled time, a sender that does not sleep; 10,000 requests in a closed loop and 30 s of rest before, and 50 left out; 400 measured a repeat",
  quick: false,
  async run(context) {
    const requestsPerSecond = samplesPerSecond / samplesPerRequest;
    const samples = samplesPerSecond * (warmSeconds + 5) + firstRequests * samplesPerRequest;
    const { head: firstFile, tail: file } = splitBodies(await context.bodies.get("A", { samples }), firstRequests);
    const { present, notMeasured } = presentPeers(context, [peer]);
    const early = { requests: coldRequests, perSecond: 4 * requestsPerSecond };
    const sending = { firstFile, file, connections: 5, coldRequests, early, requestsPerSecond, wakeMs };
    const turn = (kind) => () => serverSession(context, kind, sending);
    const contestants = Object.fromEntries(["vedette", ...present].map((kind) => [kind, turn(kind)]));
    const turns = await takeRounds(context, contestants, rounds);
    const p99 = (kind) => turns[kind].map(({ warm }) => warm.p99Ms);
    const line = (label, kind) => ({
      label: `${label}, p99`,
      values: p99(kind),
      unit: "ms",
      note: `${middle(turns[kind])}; ${conditions(turns[kind])}`,
    });
    const lines = [line("Vedette", "vedette")];
    if (present.includes(peer)) {
      lines.push(line("VictoriaMetrics", peer));
      lines.push(ratioLine("Vedette / VictoriaMetrics", p99("vedette"), p99(peer), { note: "printed, not judged: wanted is 0.2" }));
    }
    return { lines, notMeasured };
  },
};

function middle(results) {
  const of = (key) => results.map(({ warm }) => warm[key].toFixed(1)).join(", ");
  return `p50 ${of("p50Ms")} ms, max ${of("maxMs")} ms`;
}
