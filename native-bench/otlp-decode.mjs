// What protobufjs costs: decodes each body, the result being dropped. Prints {points, cpuSeconds} of the time after the cold bodies; cpuSeconds counts all
// threads of this process, so the collector's too.
//
//   node --import ./scripts/typescript-loader.mjs native-bench/otlp-decode.mjs FILE COLD_BODIES SECONDS
import { readFileSync } from "node:fs";
import { decodeMessage } from "../test/support/otlp-schema.ts";

const headBytes = 12;

function main([path, coldBodies, seconds]) {
  const content = readFileSync(path);
  const bodies = [];
  for (let at = 0; at < content.length; at += headBytes + content.readUInt32LE(at + 8)) {
    const start = at + headBytes;
    bodies.push({ points: content.readUInt32LE(at + 4), bytes: content.subarray(start, start + content.readUInt32LE(at + 8)) });
  }
  const cold = Math.min(Number(coldBodies), bodies.length - 1);
  for (let i = 0; i < cold; i++) decodeMessage("metrics", bodies[i].bytes);
  let points = 0;
  const cpuStart = process.cpuUsage();
  const deadline = performance.now() + Number(seconds) * 1000;
  for (let i = cold; performance.now() < deadline; i = (i + 1) % bodies.length) {
    decodeMessage("metrics", bodies[i].bytes);
    points += bodies[i].points;
  }
  const { user, system } = process.cpuUsage(cpuStart);
  console.log(JSON.stringify({ points, cpuSeconds: (user + system) / 1e6 }));
}

main(process.argv.slice(2));
