// What decoding spans costs the ingest kernel: checks each body and fills rows of its spans, which nobody reads. Prints {spans, spansPerSecond} by CPU time, after the cold
// bodies; the copy into the kernel's memory, which the front makes, is left out.
//
//   node --import ./scripts/typescript-loader.mjs native-bench/otlp-spans-walk.mjs FILE COLD_BODIES SECONDS
import { readFileSync } from "node:fs";
import { STATUS_OK } from "../src/core/layout/kernel-status.ts";
import { BODY_PADDING_BYTES, LARGE_BODY } from "../src/core/layout/memory-map.ts";
import { loadKernel } from "../test/support/kernel.ts";

const headBytes = 12;
const dayMs = 86_400_000;
const seed = 7;

function main([path, coldBodies, seconds]) {
  const { kernel, memory } = loadKernel();
  const room = new Uint8Array(memory.buffer);
  const content = readFileSync(path);
  const bodies = [];
  for (let at = 0; at < content.length; at += headBytes + content.readUInt32LE(at + 8)) {
    const start = at + headBytes;
    bodies.push({ spans: content.readUInt32LE(at + 4), bytes: content.subarray(start, start + content.readUInt32LE(at + 8)) });
  }
  const nowMs = Date.now();
  let spans = 0;
  let cpuSeconds = 0;
  for (let turn = 0; cpuSeconds < Number(seconds); turn++) {
    const body = bodies[turn % bodies.length];
    room.set(body.bytes, LARGE_BODY);
    room.fill(0, LARGE_BODY + body.bytes.length, LARGE_BODY + body.bytes.length + BODY_PADDING_BYTES);
    const start = process.cpuUsage();
    if (kernel.otlpTracesBegin(LARGE_BODY, body.bytes.length, seed, nowMs - dayMs, nowMs) !== STATUS_OK) throw new Error("a body is odd");
    let rows = 0;
    for (let some = kernel.otlpTracesStep(); some > 0; some = kernel.otlpTracesStep()) rows += some;
    const { user, system } = process.cpuUsage(start);
    if (rows !== body.spans) throw new Error(`a body has ${rows} spans instead of ${body.spans}`);
    if (turn < Number(coldBodies)) continue;
    spans += rows;
    cpuSeconds += (user + system) / 1e6;
  }
  console.log(JSON.stringify({ spans, spansPerSecond: spans / cpuSeconds }));
}

main(process.argv.slice(2));
