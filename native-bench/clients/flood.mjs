// Clients that send more than a server can take: each connection sends its batch again as soon as it has an answer, whatever that says.
// Prints {statuses, answeredP99Ms, refusedP99Ms, refusedMaxMs, withoutRetryAfter, rssBytes: [early, late], recoveredMs}.
//   node flood.mjs <port> <pid> <connections> <seconds> <records a batch>
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

const [port, pid, connections, seconds, records] = process.argv.slice(2).map(Number);
const batch = JSON.stringify(
  Array.from({ length: records }, (_, i) => ({
    service_id: `service-${i % 50}`,
    metric_name: `metric-${i % 20}`,
    value: i + 0.5,
    timestamp: new Date(Date.now() - i).toISOString(),
    attributes: { instance: `i-${i % 7}`, note: "x".repeat(200) },
  })),
);
const request = Buffer.from(
  `POST /api/v1/telemetry/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(batch)}\r\n\r\n${batch}`,
);
/** Of the beginning: connections are opened, and the queue fills. */
const coldMs = 1_000;

const statuses = {};
const times = { answered: [], refused: [] };
let withoutRetryAfter = 0;
let isOver = false;
const startMs = performance.now();

function flood() {
  const socket = connect({ host: "127.0.0.1", port });
  let sentMs = 0;
  let received = "";
  const send = () => {
    sentMs = performance.now();
    socket.write(request);
  };
  socket.on("connect", send);
  socket.on("error", () => undefined);
  socket.on("close", () => {
    if (!isOver) flood();
  });
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
    const headEnd = received.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const head = received.slice(0, headEnd);
    const bytes = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (received.length < headEnd + 4 + bytes) return;
    received = "";
    count(head, performance.now() - sentMs);
    if (!isOver) send();
  });
}

function count(head, ms) {
  const status = head.slice(9, 12);
  statuses[status] = (statuses[status] ?? 0) + 1;
  if (status === "503" && !/retry-after: /i.test(head)) withoutRetryAfter++;
  if (performance.now() - startMs > coldMs) times[status === "503" ? "refused" : "answered"].push(ms);
}

const rssBytes = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
const quantile = (values, q) => values.toSorted((a, b) => a - b)[Math.floor(q * (values.length - 1))] ?? Number.NaN;

for (let i = 0; i < connections; i++) flood();
await pause(seconds * 500);
const early = rssBytes();
await pause(seconds * 500);
const late = rssBytes();
isOver = true;
const endMs = performance.now();
const single = { service_id: "after", metric_name: "flood", value: 1, timestamp: new Date().toISOString() };
for (;;) {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/telemetry`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(single),
  });
  if (answer.status === 200) break;
  await pause(1);
}
const recoveredMs = performance.now() - endMs;
process.stdout.write(
  JSON.stringify({
    statuses,
    answeredP99Ms: quantile(times.answered, 0.99),
    refusedP99Ms: quantile(times.refused, 0.99),
    refusedMaxMs: quantile(times.refused, 1),
    withoutRetryAfter,
    rssBytes: [early, late],
    recoveredMs,
  }),
  () => process.exit(0),
);
