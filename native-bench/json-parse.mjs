// What JSON.parse costs: makes a string of each body and parses it, the result being dropped. Prints {records, cpuSeconds} of the time after the
// cold bodies; cpuSeconds counts all threads of this process, so the collector's too.
//
//   node json-parse.mjs FILE COLD_BODIES SECONDS
import { readFileSync } from "node:fs";

const headBytes = 12;

/** @returns {Array<{start: number, end: number, records: number}>} */
function listBodies(/** @type {Buffer} */ content) {
  const bodies = [];
  for (let at = 0; at < content.length; ) {
    const start = at + headBytes;
    const end = start + content.readUInt32LE(at + 8);
    bodies.push({ start, end, records: content.readUInt32LE(at + 4) });
    at = end;
  }
  return bodies;
}

function parse(content, { start, end, records }) {
  const parsed = JSON.parse(content.toString("utf8", start, end));
  if (Array.isArray(parsed) && parsed.length !== records) throw new Error("a body holds other records than it says");
  return records;
}

function main([path, coldBodies, seconds]) {
  const content = readFileSync(path);
  const bodies = listBodies(content);
  const cold = Math.min(Number(coldBodies), bodies.length - 1);
  for (let i = 0; i < cold; i++) parse(content, bodies[i]);
  let records = 0;
  const cpuStart = process.cpuUsage();
  const deadline = performance.now() + Number(seconds) * 1000;
  for (let i = cold; performance.now() < deadline; i = (i + 1) % bodies.length) records += parse(content, bodies[i]);
  const { user, system } = process.cpuUsage(cpuStart);
  console.log(JSON.stringify({ records, cpuSeconds: (user + system) / 1e6 }));
}

main(process.argv.slice(2));
