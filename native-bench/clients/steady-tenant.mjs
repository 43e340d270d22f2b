// A tenant that sends telemetry and asks its own queries at a steady rate, then as much as it can. Prints {ingestion, queries: {p50Ms, p99Ms, maxMs, count}, fastest:
// {ingestion, queries}: {perSecond: answers, cores: of each thread of the server}, refusals, series: services that it must have}. Latency counts from when a request was due.
//   node steady-tenant.mjs <port> <pid of the server> <phase, a word that names what is new> <seconds> <seconds of each of the two closed loops> <authorization>
import { readdirSync, readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { ticksPerSecond } from "../measure.mjs";
import { PLANNED, steadyRequests } from "./steady-requests.mjs";

const [port, pid, phase, seconds, closedSeconds, authorization] = process.argv.slice(2);
/** Left out of the latencies: connections open, and a young server compiles. */
const coldMs = 500;
const closedConnections = 5;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const requests = steadyRequests(phase);
const refusals = {};

/** Resolves with whether it was taken. */
function ask({ method, path, body }) {
  return new Promise((resolve) => {
    const headers = {
      Authorization: authorization,
      ...(body && { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }),
    };
    const end = (reason) => {
      if (reason !== "") refusals[reason] = (refusals[reason] ?? 0) + 1;
      resolve(reason === "");
    };
    const sent = request({ host: "127.0.0.1", port, path, method, headers, agent }, (answer) => {
      let text = "";
      answer.setEncoding("latin1").on("data", (part) => {
        text += part;
      });
      answer.on("end", () =>
        end(answer.statusCode < 300 ? "" : `${method} ${path} ${answer.statusCode} ${text.replace(/,"request_id.*/, "").slice(0, 200)}`),
      );
    });
    sent.on("error", (error) => end(`${method} ${path} ${error.code}`));
    sent.end(body);
  });
}

/** Open loop: asks at its times whatever became of those before. */
async function openLoop(make, perSecond) {
  const startMs = performance.now();
  const waitsMs = [];
  const under = [];
  for (let i = 0; i < perSecond * Number(seconds); i++) {
    const dueMs = startMs + (1000 * i) / perSecond;
    const nowMs = performance.now();
    if (dueMs > nowMs) await pause(dueMs - nowMs);
    under.push(
      ask(make(i)).then(() => {
        if (dueMs - startMs >= coldMs) waitsMs.push(performance.now() - dueMs);
      }),
    );
  }
  await Promise.all(under);
  waitsMs.sort((a, b) => a - b);
  const at = (part) => waitsMs[Math.min(waitsMs.length - 1, Math.floor(part * waitsMs.length))];
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: waitsMs.at(-1), count: waitsMs.length };
}

/** Each connection asks again as soon as it has its answer. */
async function closedLoop(make) {
  let [answered, next] = [0, 0];
  const before = threadSeconds();
  const startMs = performance.now();
  const endMs = startMs + 1000 * Number(closedSeconds);
  const loop = async () => {
    while (performance.now() < endMs) if (await ask(make(next++))) answered++;
  };
  await Promise.all(Array.from({ length: closedConnections }, loop));
  const lasted = (performance.now() - startMs) / 1000;
  const cores = [...threadSeconds()].map(([thread, cpu]) => [thread, (cpu - (before.get(thread) ?? 0)) / lasted]);
  return { perSecond: answered / lasted, cores: Object.fromEntries(cores) };
}

/** CPU so far of each of the server's threads, by its number. */
function threadSeconds() {
  const seconds = readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return [[thread, (Number(fields[11]) + Number(fields[12])) / ticksPerSecond]];
    } catch {
      return []; // it has ended
    }
  });
  return new Map(seconds);
}

const [ingestion, queries] = await Promise.all([
  openLoop(requests.telemetry, PLANNED.telemetryPerSecond),
  openLoop(requests.query, PLANNED.queriesPerSecond),
]);
const fastest = { ingestion: await closedLoop(requests.more), queries: await closedLoop(requests.query) };
agent.destroy();
process.stdout.write(JSON.stringify({ ingestion, queries, fastest, refusals, series: requests.series() }));
