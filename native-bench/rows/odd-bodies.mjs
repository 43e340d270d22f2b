// Bodies made to hold an engine, from one tenant over and over: what another tenant notices of each shape, and what memory is left behind.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { clientCore } from "../clients/detection-turn.mjs";
import { shown } from "../measure.mjs";
import { authorization, TOKEN_ENV, tenantHeader } from "../servers/bench-tenants.mjs";
import { JSON_HEADERS, SINGLE_PATH } from "../servers/vedette.mjs";
import { takeTurns } from "../turns.mjs";

const sender = fileURLToPath(new URL("../clients/odd-senders.mjs", import.meta.url));
const queries = fileURLToPath(new URL("../clients/odd-queries.mjs", import.meta.url));
const loader = fileURLToPath(new URL("../../scripts/typescript-loader.mjs", import.meta.url));
const asks = fileURLToPath(new URL("../clients/coordinator-turns.mjs", import.meta.url));
const probe = new URL("../servers/turn-probe.mjs", import.meta.url);
/** Processor time that a request may hold the coordinator's thread for. */
const turnMsMax = 20;
/** Longest of the bodies of queries: most endpoints take less. */
const queryBytes = 8 * 1024 * 1024;
const shapes = ["records", "logs in OTLP", "metrics in OTLP", "messages in protobuf", "members", "spaces", "legal logs"];
const requestsPerSecond = 200;
const seconds = 5;
/** The odd bodies are sent for as long as the neighbour sends, and made before. */
const oddSeconds = seconds + 1;
const oddConnections = 4;
/** Garbage is collected, and pages go back, in so many seconds without a request. */
const restMs = 3_000;

/** @type {import("../turns.mjs").Row} */
export const oddBodies = {
  name: "odd-bodies",
  what:
    "answer p99 of one tenant, open loop, 200 single records a second over 5 connections for 5 s, alone and beside another tenant that sends gzip of one shape over 4 connections " +
    "again and again: 22 million empty records, OTLP resources, metrics, 33 million empty messages in protobuf, an object of 2.4 million members, 64 MiB of spaces (65 KB each), " +
    "and 32,000 legal logs in OTLP JSON, 4 MiB; resident memory 3 s after each, against that before the first. Both senders are on one core. " +
    "Then each endpoint of the coordinator that takes a body gets odd ones, up to the bytes that it takes, as viewer, operator and admin: a query of another tenant alone " +
    "and meanwhile, and the longest turn of the coordinator's thread. Then a server under a probe is asked all that is large and legal, and all odd bodies, one after another, " +
    "as super admin: turns of the coordinator's event loop in processor time of its thread. Once, whatever the repeats",
  quick: false,
  async run(context) {
    const file = await context.bodies.get("json-singles", { records: 150_000, shards: 1_000 });
    const { all } = await takeTurns({ ...context, repeats: 1 }, { all: () => turn(context, file) });
    const [{ alone, beside, rssMiB, odd: asked }] = all;
    return {
      lines: [
        { label: "alone, p99", values: [alone.p99Ms], unit: "ms" },
        ...beside.flatMap(({ shape, neighbour, odd, rssMiB: after }) => [
          {
            label: `beside ${shape}, p99`,
            values: [neighbour.p99Ms],
            unit: "ms",
            note: `${shown(odd.sentBytes / 1000)} KB become ${shown(odd.inflatedBytes / 2 ** 20)} MiB; answers ${JSON.stringify(odd.statuses)}, the slowest after ${shown(odd.slowestMs)} ms`,
          },
          {
            label: `memory after ${shape}`,
            values: [after - rssMiB],
            unit: "MiB more",
            note: `${shown(after)} MiB, ${shown(rssMiB)} before the first`,
          },
        ]),
        { label: "query alone, slowest", values: [Math.max(...asked.aloneMs)], unit: "ms" },
        {
          label: "query beside odd bodies of queries, slowest",
          values: [Math.max(...asked.besideMs)],
          unit: "ms",
          note: `${asked.bodies} bodies, answers ${JSON.stringify(asked.statuses)}, the slowest after ${shown(asked.slowest.ms)} ms: ${asked.slowest.what}`,
        },
        { label: "longest turn of the coordinator", values: [asked.turnMs], unit: "ms" },
        ...turnLines(await probedTurns(context)),
      ],
      notMeasured: [],
    };
  },
};

/** What of the requests held the coordinator longest, in processor time. */
function turnLines({ asked, turns }) {
  const long = turns.filter(({ cpuMs }) => cpuMs > turnMsMax).sort((a, b) => b.cpuMs - a.cpuMs);
  const during = ({ atMs, endMs }) => asked.find((ask) => ask.startMs <= endMs && ask.endMs >= atMs);
  const told = long
    .slice(0, 5)
    .map((each) => `${shown(each.cpuMs)} ms: ${during(each)?.path ?? "no request"} ${during(each)?.what ?? ""}`.trim());
  return [
    {
      label: "longest turn under the probe, CPU",
      values: [Math.max(0, ...turns.map(({ cpuMs }) => cpuMs))],
      unit: "ms",
      note: told.join("; "),
    },
    { label: `turns above ${turnMsMax} ms of CPU`, values: [long.length], unit: `of ${asked.length} requests` },
  ];
}

async function probedTurns(context) {
  const turnsFile = join(context.workDir, `turns-${process.pid}.json`);
  const probed = { ...TOKEN_ENV, NODE_OPTIONS: `--import=${probe.href}`, TURN_PROBE_FILE: turnsFile };
  const server = await context.startServer("vedette", { env: probed });
  let stopped = false;
  try {
    const args = ["--import", loader, asks, String(server.port), await authorization("default", "super_admin")];
    const { asked } = JSON.parse(await context.runPinned(process.execPath, args, clientCore(context)));
    await server.stop();
    stopped = true;
    return { asked, turns: JSON.parse(readFileSync(turnsFile, "utf8")) };
  } finally {
    if (!stopped) await server.kill();
  }
}

async function turn(context, file) {
  const server = await context.startServer("vedette", { env: TOKEN_ENV });
  try {
    const neighbour = [...JSON_HEADERS, await tenantHeader(server, "neighbour", "enterprise")];
    const odd = await tenantHeader(server, "odd", "enterprise");
    const asked = (coldRequests) =>
      context.send({
        server,
        file,
        path: SINGLE_PATH,
        headers: neighbour,
        connections: 5,
        coldRequests,
        requestsPerSecond,
        maxRequests: coldRequests + requestsPerSecond * seconds,
      });
    const alone = (await asked(3 * requestsPerSecond)).warm;
    await pause(restMs);
    const rssMiB = server.rssBytes() / 2 ** 20;
    const beside = [];
    for (const shape of shapes) {
      const args = [sender, server.port, shape, oddConnections, oddSeconds, odd.replace("Authorization: ", "")].map(String);
      const sending = context.runPinned(process.execPath, args, clientCore(context)).then(JSON.parse);
      const result = await asked(requestsPerSecond);
      const sent = await sending;
      await pause(restMs);
      beside.push({ shape, neighbour: result.warm, odd: sent, rssMiB: server.rssBytes() / 2 ** 20 });
    }
    return { alone, beside, rssMiB, odd: await oddQueries(context, server), warm: alone };
  } finally {
    await server.kill();
  }
}

async function oddQueries(context, server) {
  const roles = await Promise.all(["viewer", "operator", "admin"].map((role) => authorization("odd", role)));
  const other = await authorization("default", "viewer");
  const args = ["--import", loader, queries, String(server.port), String(queryBytes), other, ...roles];
  return context.runPinned(process.execPath, args, clientCore(context)).then(JSON.parse);
}
