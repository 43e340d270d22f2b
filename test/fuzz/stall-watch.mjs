// Watches the campaign from a thread of its own: an input on which it works for more than two seconds of processor time, or waits for more than a minute, is
// an endless loop. Nothing can stop such a loop from outside but the end of the process. Plain JavaScript: it starts before anything can compile.
import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";

const LOOK_MS = 200;
const BUSY_MICROSECONDS_MAX = 2_000_000;
const WAITING_MS_MAX = 60_000;

const { progress, before, after } = workerData;
const words = new Int32Array(progress);
let seen = -1;
let seenMs = 0;
let seenCpu = 0;

setInterval(() => {
  const index = Atomics.load(words, 0);
  const { user, system } = process.cpuUsage();
  const nowMs = performance.now();
  if (index !== seen) {
    seen = index;
    seenMs = nowMs;
    seenCpu = user + system;
    return;
  }
  if (user + system - seenCpu < BUSY_MICROSECONDS_MAX && nowMs - seenMs < WAITING_MS_MAX) return;
  writeSync(
    1,
    `${before}no end after ${((nowMs - seenMs) / 1000).toFixed(1)} s${after.replace("INDEX", String(index)).replace("COUNT", String(index + 1))}\n`,
  );
  process.kill(process.pid, "SIGKILL");
}, LOOK_MS);
