// One tenant floods each of the limits that all tenants share: what another one, which works as always, notices of it.
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { clientCore } from "../clients/detection-turn.mjs";
import { PLANNED } from "../clients/steady-requests.mjs";
import { shown } from "../measure.mjs";
import { TOKEN_ENV, tenantHeader } from "../servers/bench-tenants.mjs";
import { takeTurns } from "../turns.mjs";

const client = (name) => fileURLToPath(new URL(`../clients/${name}-tenant.mjs`, import.meta.url));
const attacks = ["lists", "backtests", "settings", "event streams", "log services", "span services", "metadata"];
const seconds = 4;
/** Of each of its two closed loops. */
const closedSeconds = 1.5;
/** The flood begins before the neighbour and ends behind it. */
const floodSeconds = seconds + 2 * closedSeconds + 1.5;
/** Of the flood's scheduler group: its client gives way to the neighbour's, on whose core it is. */
const floodNice = 0;
/** Logs and spans of a minute become samples when it is over. */
const foldedMsMax = 90_000;
const moreMsMax = 25;
const partMax = 0.5;

/** @type {import("../turns.mjs").Row} */
export const neighbours = {
  name: "neighbours",
  what:
    `one tenant sends ${PLANNED.telemetryPerSecond} requests a second (20 samples each, now and then the logs or spans of a new service) and asks ${PLANNED.queriesPerSecond} queries a second, open loop, for ${seconds} s, alone (twice; that with the lower p99 of queries counts) and beside ` +
    "another that floods one shared limit after the other: 25,000 new services with logs, as many with spans, 50,000 new metrics with unit and help, 2,000 to 5,000 a request and then one request a second, 25 parallel lists of 1,000 of its 24,000 series, " +
    `event streams, 30 backtests at a time, silences, inhibitions, labels and saturation limits. p99 beside it less p99 alone; behind that ${closedSeconds} s each of ingestion and queries over 5 connections as fast as they are answered: ` +
    "the flood's part of a thread is its CPU without what that many answers took alone. Server on one core with all of its threads, both clients on the other. Once, whatever the repeats",
  quick: false,
  async run(context) {
    const { all } = await takeTurns({ ...context, repeats: 1 }, { all: () => turn(context) });
    const [{ alone, beside, lost, seriesMissing }] = all;
    return {
      lines: [
        { label: "refused or lost of the neighbour's", values: [lost], unit: "answers", bar: 0, lowerIsBetter: true },
        { label: "its new services without a series", values: [seriesMissing], unit: "services", bar: 0, lowerIsBetter: true },
        { label: "alone, ingestion, p99", values: [alone.ingestion.p99Ms], unit: "ms", note: spreadOf(alone.ingestion) },
        { label: "alone, queries, p99", values: [alone.queries.p99Ms], unit: "ms", note: spreadOf(alone.queries) },
        ...beside.flatMap((each) => linesOf(alone, each)),
      ],
      notMeasured: [],
    };
  },
};

function spreadOf({ p50Ms, maxMs, count }) {
  return `p50 ${shown(p50Ms)}, longest ${shown(maxMs)} ms of ${count}`;
}

function linesOf(alone, { attack, neighbour, flood }) {
  const more = (kind) => ({
    label: `beside ${attack}, ${kind}, p99 more than alone`,
    values: [neighbour[kind].p99Ms - alone[kind].p99Ms],
    unit: "ms",
    bar: moreMsMax,
    lowerIsBetter: true,
    note: `p99 ${shown(neighbour[kind].p99Ms)} ms, ${spreadOf(neighbour[kind])}`,
  });
  const part = (kind) => {
    const [before, beside] = [alone.fastest[kind], neighbour.fastest[kind]];
    const [[thread, cores]] = Object.entries(beside.cores).sort(([, a], [, b]) => b - a);
    const own = ((before.cores[thread] ?? 0) * beside.perSecond) / before.perSecond;
    return {
      label: `beside ${attack}, the flood's part of the busiest thread while ${kind} waits`,
      values: [Math.max(0, cores - own)],
      unit: "of its time",
      bar: partMax,
      lowerIsBetter: true,
      note: `the thread is busy ${shown(cores)} of its time; ${shown(beside.perSecond)} answers a second, alone ${shown(before.perSecond)}; the flood's answers ${JSON.stringify(flood.statuses)}`,
    };
  };
  return [more("ingestion"), more("queries"), part("ingestion"), part("queries")];
}

async function turn(context) {
  const server = await context.startServer("vedette", { env: TOKEN_ENV });
  try {
    const acme = bare(await tenantHeader(server, "acme", "enterprise"));
    const evil = bare(await tenantHeader(server, "evil", "enterprise"));
    const run = (name, args, nice) =>
      context.runPinned(process.execPath, [client(name), server.port, ...args].map(String), clientCore(context), nice).then(JSON.parse);
    const steady = (phase) => run("steady", [server.pid, phase, seconds, closedSeconds, acme]);
    await run("hostile", ["fill", 1, evil]);
    await run("steady", [server.pid, "cold", 5, 2, acme]);
    const alones = [await steady("alone-0"), await steady("alone-1")];
    const alone = alones.toSorted((a, b) => a.queries.p99Ms - b.queries.p99Ms)[0];
    const beside = [];
    for (const [place, attack] of attacks.entries()) {
      const flooding = run("hostile", [attack, floodSeconds, evil], floodNice);
      const neighbour = await steady(`beside-${place}`);
      const flood = await flooding;
      context.log(`beside ${attack}: ${JSON.stringify({ neighbour, flood })}`);
      beside.push({ attack, neighbour, flood });
    }
    const phases = [...alones, ...beside.map(({ neighbour }) => neighbour)];
    const refusals = phases.map((each) => each.refusals);
    const lost = refusals.flatMap(Object.values).reduce((sum, count) => sum + count, 0);
    if (lost > 0) context.log(`refused: ${JSON.stringify(refusals)}`);
    const made = phases.reduce((sum, { series }) => sum + series, 0);
    return { alone, beside, lost, seriesMissing: await missing(server, acme, made) };
  } finally {
    await server.kill();
  }
}

/** Of the flooded phases and the one alone: how many of so many services have no series of their logs or spans once the minutes in which they came are over. Coverage says what was refused. */
async function missing({ port }, authorization, made) {
  const ask = async (path) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { Authorization: authorization } });
    if (!answer.ok) throw new Error(`${path} is answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };
  const { shared_limits } = await ask("/api/v1/coverage");
  const refused = shared_limits.filter(({ refused_total }) => refused_total > 0);
  if (refused.length > 0) throw new Error(`the neighbour was refused places: ${JSON.stringify(refused)}`);
  const count = async () => {
    const found = new Set();
    for (let token = ""; token !== undefined; ) {
      const { series, page_token } = await ask(`/api/v1/series?limit=1000&page_token=${encodeURIComponent(token)}`);
      for (const { service_id } of series) if (/^acme-(?:alone|beside)-\d-/.test(service_id)) found.add(service_id);
      token = page_token === "" ? undefined : page_token;
    }
    return made - found.size;
  };
  const endMs = performance.now() + foldedMsMax;
  let lacking = await count();
  while (lacking > 0 && performance.now() < endMs) {
    await pause(2_000);
    lacking = await count();
  }
  return lacking;
}

function bare(header) {
  return header.replace("Authorization: ", "");
}
