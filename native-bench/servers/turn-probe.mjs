// Loaded ahead of the server by the row on odd bodies: measures each turn of the coordinator's event loop in the processor time of its thread, which what else the
// machine does leaves alone, and samples what runs meanwhile. At the thread's end the turns of more than TURN_PROBE_MS are written, as a list in JSON.
import { openSync, readSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { isMainThread, workerData } from "node:worker_threads";

const file = process.env.TURN_PROBE_FILE;
const toldMs = Number(process.env.TURN_PROBE_MS ?? 10);
const sampledEveryUs = 1_000;
const framesTold = 12;
const isCoordinator = !isMainThread && workerData?.enginePorts !== undefined && workerData.readerCount !== undefined;

if (isCoordinator && file !== undefined) measure();

function measure() {
  const schedstat = openSync("/proc/thread-self/schedstat", "r");
  const buffer = Buffer.alloc(64);
  const threadMs = () => Number(buffer.toString("latin1", 0, readSync(schedstat, buffer, 0, 64, 0)).split(" ", 1)[0]) / 1e6;
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.setSamplingInterval", { interval: sampledEveryUs });
  session.post("Profiler.start");
  const turns = [];
  let last = { cpuMs: threadMs(), atMs: now() };
  const turn = () => {
    const next = { cpuMs: threadMs(), atMs: now() };
    const cpuMs = next.cpuMs - last.cpuMs;
    if (cpuMs > toldMs) turns.push({ atMs: last.atMs, endMs: next.atMs, cpuMs });
    last = next;
    setImmediate(turn).unref();
  };
  setImmediate(turn).unref();
  process.on("exit", () => {
    session.post("Profiler.stop", (_error, { profile }) => {
      const stacks = stacksOf(profile);
      writeFileSync(file, JSON.stringify(turns.map((each) => ({ ...each, where: hottest(stacks, each) }))));
    });
  });
}

/** Of the machine's monotonic clock, which other processes and the profile share. */
function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Each sample's time and frames, innermost first. */
function stacksOf({ nodes, samples, timeDeltas, startTime }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  let at = startTime;
  return samples.map((id, index) => {
    at += timeDeltas[index];
    const frames = [];
    for (let node = id; node !== undefined; node = parents.get(node)) {
      const { functionName, url } = byId.get(node).callFrame;
      frames.push(`${functionName || "?"}@${url.split("/").at(-1)}`);
    }
    return { atMs: at / 1_000, frames };
  });
}

/** The functions that most samples of a turn are in or below, and in themselves. */
function hottest(stacks, { atMs, endMs }) {
  const within = stacks.filter((stack) => stack.atMs >= atMs && stack.atMs <= endMs);
  const [inclusive, own] = [new Map(), new Map()];
  for (const { frames } of within) {
    for (const frame of new Set(frames)) inclusive.set(frame, (inclusive.get(frame) ?? 0) + 1);
    own.set(frames[0], (own.get(frames[0]) ?? 0) + 1);
  }
  const first = (counts) => [...counts].sort((a, b) => b[1] - a[1]).slice(0, framesTold);
  return { samples: within.length, inclusive: first(inclusive), own: first(own) };
}
