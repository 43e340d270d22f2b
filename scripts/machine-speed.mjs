// How fast this machine is at this moment: the time of a calculation that is always the same. Beside the time of a run it tells a slow hour from slow code.
import { createHash } from "node:crypto";

const repeats = 5;
const steps = 60_000_000;
const hashedBytes = 64 * 1024 * 1024;
const blockBytes = 1024 * 1024;

/** Milliseconds of an integer loop and of SHA-256 over 64 MiB on one core, the middle one of five. */
export function fixedCalculationMs() {
  const times = Array.from({ length: repeats }, timeOnce).sort((a, b) => a - b);
  return times[(repeats - 1) / 2];
}

function timeOnce() {
  const startMs = performance.now();
  let word = 1;
  for (let step = 0; step < steps; step++) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
  }
  const block = Buffer.alloc(blockBytes, word & 0xff);
  const hash = createHash("sha256");
  for (let bytes = 0; bytes < hashedBytes; bytes += blockBytes) hash.update(block);
  hash.digest();
  return performance.now() - startMs;
}
