// Asks all that is large and legal, one after another, and prints {asked: [{what, status, ms, startMs, endMs, bytes}]}: times of the machine's monotonic clock.
//   node --import ./scripts/typescript-loader.mjs native-bench/clients/coordinator-turns.mjs <port> <authorization> [<part of what is asked>]
import { setTimeout as pause } from "node:timers/promises";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { oddBodies } from "../../test/support/odd-json-bodies.ts";
import { largeAsks, telemetryAsks } from "../bodies/large-asks.mjs";

const [port, authorization, part] = process.argv.slice(2);
const oddBytesMax = 8 * 1024 * 1024;
const settleMs = 1_500;
const now = () => Number(process.hrtime.bigint()) / 1e6;

async function send({ what, method, path, body, type }) {
  const headers = { Authorization: authorization, ...(body !== undefined && { "Content-Type": type }) };
  const startMs = now();
  try {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body });
    const text = await answer.text();
    const said = answer.status >= 400 ? text.slice(0, 200) : "";
    return { what, path: `${method} ${path.split("?")[0]}`, status: answer.status, startMs, endMs: now(), bytes: text.length, said };
  } catch (error) {
    return { what, path: `${method} ${path}`, status: 0, startMs, endMs: now(), bytes: 0, said: String(error.cause ?? error) };
  }
}

function* oddAsks() {
  for (const endpoint of ENDPOINTS) {
    if (endpoint.body === undefined || endpoint.handledBy !== "coordinator") continue;
    const path = endpoint.path.replaceAll(/\{\w+\}/g, "none");
    const type = endpoint.bodyTypes?.at(-1) ?? "application/json";
    for (const { what, body } of oddBodies(endpoint, oddBytesMax)) yield { what, method: endpoint.method, path, body, type };
  }
}

const asked = [];
for (const ask of telemetryAsks()) asked.push(await send(ask));
await pause(settleMs);
for (const asks of [largeAsks(), oddAsks()])
  for (const ask of asks) if (part === undefined || `${ask.method} ${ask.path} ${ask.what}`.includes(part)) asked.push(await send(ask));
await pause(settleMs);
console.log(JSON.stringify({ asked }));
