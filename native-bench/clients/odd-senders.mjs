// Sends one odd body again and again over some connections, as an attacker does: each asks again as soon as it has its answer.
// Prints {sentBytes, inflatedBytes, statuses, slowestMs}.
//   node odd-senders.mjs <port> <shape> <connections> <seconds> <authorization>
import { Agent, request } from "node:http";
import { gzipSync } from "node:zlib";

const [port, shape, connections, seconds, authorization] = process.argv.slice(2);
const MIB = 1024 * 1024;
const BATCH = "/api/v1/telemetry/batch";
const JSON_TYPE = "application/json";
/** Inflates to 64 MiB, the most that is read. */
const whole = (before, element, behind) => before + element.repeat(Math.floor((64 * MIB - 200) / element.length)) + behind;
/** A legal body of logs, 4 MiB as it stands. */
function legalLogs() {
  const stamp = `${Date.now()}000000`;
  const log = (i) => ({
    timeUnixNano: stamp,
    severityNumber: 9,
    body: { stringValue: `request ${i} took ${i % 97} ms` },
    attributes: [{ key: "n", value: { intValue: i } }],
  });
  return JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: Array.from({ length: 32_000 }, (_, i) => log(i)) }] }] });
}
const shapes = {
  records: () => [BATCH, JSON_TYPE, whole("[", "{},", "{}]")],
  "logs in OTLP": () => ["/v1/logs", JSON_TYPE, whole('{"resourceLogs":[', "{},", "{}]}")],
  "metrics in OTLP": () => ["/v1/metrics", JSON_TYPE, whole('{"resourceMetrics":[{"scopeMetrics":[{"metrics":[', "{},", "{}]}]}]}")],
  "messages in protobuf": () => ["/v1/logs", "application/x-protobuf", Buffer.from(whole("", "\n\0", ""), "latin1")],
  members: () => [BATCH, JSON_TYPE, `{${Array.from({ length: 2_400_000 }, (_, i) => `"${i}":0`).join(",")}}`],
  spaces: () => [BATCH, JSON_TYPE, Buffer.alloc(64 * MIB, " ")],
  "legal logs": () => ["/v1/logs", JSON_TYPE, legalLogs()],
};

const [path, type, body] = shapes[shape]();
const bytes = gzipSync(body, { level: 9 });
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const headers = { "Content-Type": type, "Content-Encoding": "gzip", "Content-Length": bytes.length, Authorization: authorization };
const statuses = {};
let slowestMs = 0;
const endMs = performance.now() + 1000 * Number(seconds);

function ask() {
  return new Promise((resolve) => {
    const startMs = performance.now();
    const end = (status) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      slowestMs = Math.max(slowestMs, performance.now() - startMs);
      resolve();
    };
    const sent = request({ host: "127.0.0.1", port, path, method: "POST", headers, agent }, (answer) => {
      answer.resume();
      answer.on("end", () => end(answer.statusCode));
    });
    sent.on("error", (error) => end(error.code));
    sent.end(bytes);
  });
}

await Promise.all(
  Array.from({ length: Number(connections) }, async () => {
    while (performance.now() < endMs) await ask();
  }),
);
agent.destroy();
process.stdout.write(JSON.stringify({ sentBytes: bytes.length, inflatedBytes: body.length, statuses, slowestMs }));
