// Receivers of pages, and who declares the alerts that they are told of. One process, so that both ends read one clock.
// usage: told-alerts.mjs ▶ {ports: {quick, slow, dead}}; then a line of JSON in, one out:
//   {origin, perSecond, seconds, cold, mix: [[prefix, share], ...], perRequest} ▶ {sent, latencyMs: {prefix: {count, p50, p99, max}}, told: {prefix: count}}
// Latency is from the alert as it is stored (the time of its creation, which its commit follows) to the first byte at the receiver.
import { Agent, createServer, request } from "node:http";
import { createInterface } from "node:readline";

/** At the quick receiver, by service: when its page was there, and when its alert was stored. */
const arrived = new Map();
const slow = { messages: 0, requests: 0 };
const dead = { connections: 0 };

const quickReceiver = createServer((incoming, response) => {
  const atMs = performance.timeOrigin + performance.now();
  let body = "";
  incoming.setEncoding("utf8").on("data", (text) => {
    body += text;
  });
  incoming.on("end", () => {
    response.writeHead(202).end("{}");
    const event = JSON.parse(body);
    if (event.event_action !== "trigger") return;
    if (!arrived.has(event.payload.source)) arrived.set(event.payload.source, atMs - Date.parse(event.payload.timestamp));
  });
});
/** Takes one message a second: what the destination's own limit lets through. */
const slowReceiver = createServer((incoming, response) => {
  let body = "";
  incoming.setEncoding("utf8").on("data", (text) => {
    body += text;
  });
  incoming.on("end", () => {
    slow.requests += 1;
    slow.messages += JSON.parse(body).attachments.length;
    response.writeHead(200).end("ok");
  });
});
/** Takes connections and never answers. */
const deadReceiver = createServer(() => {
  dead.connections += 1;
});

const listen = (server) => new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));
const ports = { quick: await listen(quickReceiver), slow: await listen(slowReceiver), dead: await listen(deadReceiver) };
console.log(JSON.stringify({ ports }));

const agent = new Agent({ keepAlive: true, maxSockets: 4 });
let names = 0;

function post(origin, alerts) {
  const body = JSON.stringify({ alerts });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}/api/v1/alerts/webhook`, { method: "POST", agent, headers }, (answer) => {
      answer
        .resume()
        .on("end", () => (answer.statusCode === 200 ? resolve() : reject(new Error(`an alert was answered with ${answer.statusCode}`))));
    });
    sent.on("error", reject).end(body);
  });
}

function alertOf(prefix) {
  const service = `${prefix}-${++names}`;
  const labels = { alertname: "Down", service, severity: "critical" };
  return { service, alert: { status: "firing", labels, annotations: { summary: "it is down" }, startsAt: new Date().toISOString() } };
}

/** In turn, by their shares. */
function* prefixes(mix) {
  const owed = mix.map(([prefix, share]) => ({ prefix, share, debt: 0 }));
  for (;;) {
    for (const one of owed) one.debt += one.share;
    const next = owed.reduce((most, one) => (one.debt > most.debt ? one : most));
    next.debt -= 1;
    yield next.prefix;
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

async function run({ origin, perSecond, seconds, cold = 0, mix, perRequest = 1 }) {
  arrived.clear();
  const before = { ...slow };
  const names = prefixes(mix);
  const services = [];
  const startMs = performance.now();
  const total = Math.round(perSecond * seconds);
  const answers = [];
  for (let sent = 0; sent < total; sent += perRequest) {
    await pause(startMs + (1_000 * sent) / perSecond - performance.now());
    const made = Array.from({ length: Math.min(perRequest, total - sent) }, () => alertOf(names.next().value));
    services.push(...made.map(({ service }) => service));
    answers.push(
      post(
        origin,
        made.map(({ alert }) => alert),
      ),
    );
  }
  await Promise.all(answers);
  const quick = services.filter((service) => service.startsWith("quick-")).slice(cold);
  for (const deadlineMs = performance.now() + 30_000; quick.some((service) => !arrived.has(service)); await pause(20)) {
    if (performance.now() > deadlineMs) throw new Error(`${quick.filter((service) => !arrived.has(service)).length} pages have not come`);
  }
  const values = quick.map((service) => arrived.get(service)).sort((a, b) => a - b);
  const at = (share) => values[Math.min(values.length - 1, Math.floor(values.length * share))];
  return {
    sent: services.length,
    quick: { count: values.length, p50: at(0.5), p99: at(0.99), max: values.at(-1) },
    slow: { requests: slow.requests - before.requests, messages: slow.messages - before.messages },
    dead: dead.connections,
  };
}

for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await run(JSON.parse(line))));
