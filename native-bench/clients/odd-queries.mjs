// Sends odd bodies to every endpoint of the coordinator that takes one, as each role, and asks a small query of another tenant meanwhile, over and over.
// Prints {bodies, statuses, slowest, aloneMs, besideMs, turnMs}: times of the small query, alone and meanwhile, and the longest turn of the coordinator's thread.
//   node --import ./scripts/typescript-loader.mjs native-bench/clients/odd-queries.mjs <port> <bytes> <authorization of the other tenant> <authorization of each role ...>
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { oddBodies } from "../../test/support/odd-json-bodies.ts";

const [port, bytes, other, ...roles] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const aloneMs = 3_000;
const betweenMs = 10;
const asked = { path: "/api/v1/silences?limit=1", method: "GET", authorization: other };

function ask({ path, method, authorization, type, body }) {
  return new Promise((resolve) => {
    const startMs = performance.now();
    const headers = {
      Authorization: authorization,
      ...(body !== undefined && { "Content-Type": type, "Content-Length": Buffer.byteLength(body) }),
    };
    const sent = request({ host: "127.0.0.1", port, path, method, headers, agent }, async (answer) => {
      let text = "";
      for await (const chunk of answer) text += chunk;
      resolve({ status: answer.statusCode, text, ms: performance.now() - startMs });
    });
    sent.on("error", (error) => resolve({ status: error.code, text: "", ms: performance.now() - startMs }));
    sent.end(body);
  });
}

/** Asks until `isOver`, and resolves with the times. */
async function askOver(isOver) {
  const times = [];
  while (!isOver()) {
    times.push((await ask(asked)).ms);
    await pause(betweenMs);
  }
  return times;
}

const endMs = performance.now() + aloneMs;
const alone = await askOver(() => performance.now() > endMs);
let isOver = false;
const beside = askOver(() => isOver);
const statuses = {};
let slowest = { ms: 0 };
let bodies = 0;
for (const endpoint of ENDPOINTS) {
  if (endpoint.body === undefined) continue;
  const path = endpoint.path.replaceAll(/\{\w+\}/g, "none");
  const type = endpoint.bodyTypes?.at(-1) ?? "application/json";
  for (const authorization of roles) {
    for (const { what, body } of oddBodies(endpoint, Number(bytes))) {
      const { status, ms } = await ask({ path, method: endpoint.method, authorization, type, body });
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (ms > slowest.ms) slowest = { ms, what: `${endpoint.method} ${endpoint.path}, ${what}` };
      bodies++;
    }
  }
}
isOver = true;
const besideMs = await beside;
const { text } = await ask({ path: "/metrics", method: "GET", authorization: other });
const turnMs = 1000 * Number(/^vedette_coordinator_turn_max_seconds (\S+)$/m.exec(text)?.[1]);
console.log(JSON.stringify({ bodies, statuses, slowest, aloneMs: alone, besideMs, turnMs }));
agent.destroy();
