// Spans without the kernel: what the ingest intake and the shard's handler take, over batches as a collector sends them.
import assert from "node:assert/strict";
import { SpanRig } from "../../test/support/span-rig.ts";
import { seededRandom } from "../bodies/series-labels.mjs";

const spansPerBody = 5_000;
const tracesPerBody = 500;
const services = 20;
const operations = 30;
const bodies = 16;
/** 250,000 spans a second. */
const stepMs = 20;
const startMs = 1_795_220_000_000;

/** Bodies of 500 traces of ten spans in 20 services; windows close as they pass. */
export async function spanCase() {
  const random = seededRandom(9);
  const hex = (digits) => Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("");
  const at = (body) => startMs + body * stepMs;
  const made = Array.from({ length: bodies }, (_, body) => makeBody(random, hex, at(body)));
  const rig = new SpanRig({ keepsLog: false });
  let turn = 0;
  const take = () => {
    const wallMs = at(turn);
    const spans = made[turn % bodies];
    const shift = (turn - (turn % bodies)) * stepMs;
    for (const span of spans) {
      span.endMs = span.firstEndMs + shift;
      span.startMs = span.firstStartMs + shift;
    }
    if (turn >= bodies) renameTraces(spans, turn);
    rig.pass(wallMs);
    rig.send(spans, wallMs);
    turn++;
  };
  take();
  assert.equal(rig.counters.values.spansCounted, spansPerBody);
  return { units: spansPerBody, contestants: { "sink and handler in TypeScript": take } };
}

function makeBody(random, hex, wallMs) {
  const spans = [];
  for (let trace = 0; trace < tracesPerBody; trace++) {
    const traceId = hex(32);
    let parentSpanId = "";
    for (let depth = 0; depth < spansPerBody / tracesPerBody; depth++) {
      const spanId = hex(16);
      const endMs = wallMs - random() * 1_000;
      const startMs = endMs - random() * 200;
      const service = Math.floor(trace + depth / 2) % services;
      spans.push({
        serviceId: `checkout-service-${service}`,
        environment: "production",
        traceId,
        spanId,
        parentSpanId,
        name: `GET /api/resource-${Math.floor(random() * operations)}`,
        kind: depth % 2 === 0 ? 2 : 3,
        firstEndMs: endMs,
        firstStartMs: startMs,
        endMs,
        startMs,
        statusCode: random() < 0.01 ? 2 : 0,
        attributes: {},
        resourceAttributes: {},
      });
      parentSpanId = spanId;
    }
  }
  return spans.sort((a, b) => (a.serviceId < b.serviceId ? -1 : 1));
}

/** New trace ids, so that no span repeats one. */
function renameTraces(spans, turn) {
  const prefix = (turn % 2 ** 32).toString(16).padStart(8, "0");
  for (const span of spans) span.traceId = prefix + span.traceId.slice(8);
}
