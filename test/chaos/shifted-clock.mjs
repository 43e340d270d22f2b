// Loaded before the server, in each of its threads: the wall clock is off by so many milliseconds as the file CLOCK_SHIFT_FILE says, which may change at any
// moment. Clocks for durations go on. The file is looked at ten times a second at most.
import { readFileSync } from "node:fs";

const LOOK_MS = 100;
const path = process.env.CLOCK_SHIFT_FILE;
const systemNow = Date.now;
let shiftMs = 0;
let checkedMs = Number.NEGATIVE_INFINITY;

function readShift() {
  try {
    const shift = Number(readFileSync(path, "utf8"));
    return Number.isFinite(shift) ? shift : shiftMs;
  } catch {
    return shiftMs; // it is being written, or the disk is gone
  }
}

if (path !== undefined) {
  Date.now = () => {
    const nowMs = performance.now();
    if (nowMs - checkedMs >= LOOK_MS) {
      checkedMs = nowMs;
      shiftMs = readShift();
    }
    return systemNow() + shiftMs;
  };
}
