// Webhooks with a transform: from an event as it is stored to its receiver, the first call of a tenant, and what is there before any webhook has a transform.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { procRssBytes, shown } from "../measure.mjs";
import { takeTurns } from "../turns.mjs";

const mainFile = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const transform = {
  type: "javascript",
  code: "function transform(event) { return { event: event.event_id, at: event.occurred_at, text: event.service_id }; }",
};
const events = { whole: 1_000, quick: 100 };
const perSecond = 50;
/** The first of them, left out: connections and the interpreter's code are cold. */
const cold = 50;
const firstCalls = { whole: 12, quick: 3 };
/** With two processes three tenants in turn find none of their own; so long the next spare has for its start. */
const env = { WEBHOOK_ALLOW_PRIVATE: "true", SANDBOX_PROCESSES: "2" };
const tenants = ["first", "second", "third"];
const spareMs = 4_000;
/** The first minute's garbage of a start is collected by then. */
const idleMs = 30_000;
/** Each takes its tenant's processes for some 1.25 s a run. */
const hostile = 20;

/** @type {import("../turns.mjs").Row} */
export const webhookLatency = {
  name: "webhook-latency",
  what:
    `${events.whole} anomalies are resolved, ${perSecond} a second: from the time of each event, which needs no analysis any more, to its transformed payload at the receiver, the first ${cold} left out. ` +
    `Beside it ${firstCalls.whole} test events of tenants that have no process while the spare one is free, from the request to its answer`,
  quick: false,
  async run(context) {
    const size = context.quick ? "quick" : "whole";
    const turns = await takeTurns(context, { vedette: () => latencyTurn(context, size) });
    const of = (read) => turns.vedette.map(read);
    const ms = { unit: "ms", lowerIsBetter: true };
    return {
      lines: [
        { label: "event to receiver with a transform, p99", values: of(({ p99 }) => p99), bar: 100, ...ms },
        { label: "the same, p50", values: of(({ p50 }) => p50), note: `max ${of(({ max }) => shown(max)).join(", ")} ms`, ...ms },
        { label: "first call of a tenant, the slowest", values: of(({ first }) => first), bar: 250, ...ms },
      ],
      notMeasured: [],
    };
  },
};

/** @type {import("../turns.mjs").Row} */
export const idle = {
  name: "idle",
  what: "a server with a webhook that has no transform: its resident memory after half a minute, processes that it has started; then, once one has a transform",
  quick: false,
  async run(context) {
    const turns = await takeTurns(context, { vedette: () => idleTurn(context) });
    const of = (read) => turns.vedette.map(read);
    return {
      lines: [
        {
          label: "resident memory of the idle server",
          values: of(({ ownMb }) => ownMb),
          unit: "MB",
          bar: 140,
          goal: 120,
          lowerIsBetter: true,
        },
        {
          label: "processes before any webhook has a transform",
          values: of(({ before }) => before),
          unit: "processes",
          bar: 0,
          lowerIsBetter: true,
        },
        { label: "their memory", values: of(({ beforeMb }) => beforeMb), unit: "MB", bar: 0, lowerIsBetter: true },
        {
          label: "memory of the processes of one tenant and the spare",
          values: of(({ afterMb }) => afterMb),
          unit: "MB",
          lowerIsBetter: true,
        },
      ],
      notMeasured: [],
    };
  },
};

/** @type {import("../turns.mjs").Row} */
export const hostileTransforms = {
  name: "hostile-transforms",
  what:
    `a tenant whose ${hostile} webhooks have transforms that never end, each run killed and three times in ten minutes; beside them another tenant's events, half as many as in webhook-latency, ` +
    "to a webhook with a transform: what its p99 is above that of the same events alone before",
  quick: false,
  async run(context) {
    const size = context.quick ? "quick" : "whole";
    const turns = await takeTurns(context, { vedette: () => hostileTurn(context, size) });
    const of = (read) => turns.vedette.map(read);
    return {
      lines: [
        {
          label: "others' p99 beside endless transforms, above that alone",
          values: of(({ alone, beside }) => beside.p99 - alone.p99),
          unit: "ms",
          bar: 25,
          lowerIsBetter: true,
          note: `alone ${of(({ alone }) => shown(alone.p99)).join(", ")} ms, beside ${of(({ beside }) => shown(beside.p99)).join(", ")} ms, p50 ${of(({ alone }) => shown(alone.p50)).join(", ")} and ${of(({ beside }) => shown(beside.p50)).join(", ")} ms; ${of(({ kills }) => shown(kills)).join(", ")} runs killed`,
        },
      ],
      notMeasured: [],
    };
  },
};

async function hostileTurn(context, size) {
  return withServer(context, { ...env, SANDBOX_PROCESSES: "4" }, async (server, { arrived, url }) => {
    await ask(server, "POST", "/webhooks", { name: "bench", url, transform });
    const alone = await resolvedEvents(server, arrived, Math.ceil(events[size] / 2), "alone");
    await ask(server, "POST", "/tenants", { tenant_id: "hostile", name: "hostile", plan: "enterprise" });
    for (let place = 0; place < hostile; place++) {
      const endless = { type: "jq", expression: `def f: f; f | ${place}` };
      await ask(server, "POST", "/webhooks", { name: `endless-${place}`, url, transform: endless }, "hostile");
    }
    await ask(server, "POST", "/anomalies", { service_id: "a", severity: "high", explanation: "made up" }, "hostile");
    await ask(server, "POST", "/anomalies", { service_id: "b", severity: "high", explanation: "made up" }, "hostile");
    const beside = await resolvedEvents(server, arrived, Math.ceil(events[size] / 2), "beside");
    const page = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
    return { alone, beside, kills: Number(/^vedette_transform_kills_total (\d+)/m.exec(page)?.[1]) };
  });
}

async function latencyTurn(context, size) {
  return withServer(context, env, async (server, { arrived, url }) => {
    await ask(server, "POST", "/webhooks", { name: "bench", url, transform });
    const latencies = await resolvedEvents(server, arrived, events[size], "service");
    return { ...latencies, first: await slowestFirst(server, url, firstCalls[size]) };
  });
}

/** Anomalies that are declared and then resolved: from the time of each of these events, which waits for nothing, to its receiver. */
async function resolvedEvents(server, arrived, most, name) {
  const ids = [];
  const count = most + cold;
  arrived.length = 0;
  for (let made = 0; made < count; made++) {
    const body = { service_id: `${name}-${made}`, severity: "high", explanation: "made up" };
    ids.push((await ask(server, "POST", "/anomalies", body)).anomaly_id);
  }
  await until(() => arrived.length >= count);
  arrived.length = 0;
  const startMs = performance.now();
  const resolved = ids.map(async (id, place) => {
    await pause(startMs + (1_000 * place) / perSecond - performance.now());
    await ask(server, "PATCH", `/anomalies/${id}`, { resolved: true });
  });
  await Promise.all(resolved);
  await until(() => arrived.length >= count);
  const sorted = arrived
    .slice(cold)
    .map(({ atMs, body }) => atMs - Date.parse(body.at))
    .sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) };
}

async function slowestFirst(server, url, calls) {
  for (const tenant of tenants) {
    await ask(server, "POST", "/tenants", { tenant_id: tenant, name: tenant, plan: "enterprise" });
    await ask(server, "POST", "/webhooks", { name: "bench", url, transform }, tenant);
  }
  let slowest = 0;
  for (let call = 0; call < calls; call++) {
    await pause(spareMs);
    const startMs = performance.now();
    const attempt = await ask(server, "POST", "/webhooks/test", { webhook_name: "bench" }, tenants[call % tenants.length]);
    if (attempt.state !== "succeeded") throw new Error(`a test event ended as ${JSON.stringify(attempt)}`);
    slowest = Math.max(slowest, performance.now() - startMs);
  }
  return slowest;
}

async function idleTurn(context) {
  return withServer(context, env, async (server, { url }) => {
    await ask(server, "POST", "/webhooks", { name: "plain", url });
    await ask(server, "POST", "/webhooks/test", { webhook_name: "plain" });
    const before = descendants(server.pid);
    await pause(idleMs);
    const ownMb = procRssBytes(server.pid) / 1e6;
    await ask(server, "POST", "/webhooks", { name: "transformed", url, transform });
    await pause(spareMs);
    return { ownMb, before: before.length, beforeMb: residentMb(before), afterMb: residentMb(descendants(server.pid)) };
  });
}

/** A server, and a receiver in this process, so that both ends read one clock. */
async function withServer(context, settings, turn) {
  const arrived = [];
  const receiver = createServer((incoming, response) => {
    const atMs = Date.now();
    let text = "";
    incoming.setEncoding("utf8").on("data", (part) => {
      text += part;
    });
    incoming.on("end", () => {
      arrived.push({ atMs, body: JSON.parse(text) });
      response.writeHead(204).end();
    });
  });
  await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const server = await context.startServer("vedette", { env: settings, keepData: false });
  try {
    const { port, pid, dataDir } = server;
    const words = [mainFile, "token", "--role", "super_admin"];
    const token = execFileSync(process.execPath, words, { env: { DATA_DIR: dataDir }, encoding: "utf8" }).trim();
    return await turn({ port, pid, token }, { arrived, url: `http://127.0.0.1:${receiver.address().port}/` });
  } finally {
    await server.kill();
    receiver.closeAllConnections();
    receiver.close();
  }
}

async function ask({ port, token }, method, path, body, tenant) {
  const headers = {
    "content-type": "application/json",
    authorization: `Bearer ${token}`,
    ...(tenant !== undefined && { "x-tenant-id": tenant }),
  };
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

async function until(holds) {
  for (const deadlineMs = performance.now() + 60_000; !holds(); await pause(20)) {
    if (performance.now() > deadlineMs) throw new Error("some events have not come");
  }
}

/** Processes that a process has started, and those that they have. */
function descendants(pid) {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...descendants(child)]);
}

function residentMb(pids) {
  const kb = pids.map((pid) => Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0));
  return kb.reduce((sum, one) => sum + one, 0) / 1_000;
}
