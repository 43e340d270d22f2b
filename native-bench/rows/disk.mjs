// Row 10: bytes on disk a sample, everything in the data folder counted.
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { shown } from "../measure.mjs";
import { presentPeers, ratioLine } from "../turns.mjs";

const shape = { series: 1_000, perRequest: 200, samplesPerSeries: 10, samples: 4_000_000, values: "walk", stepMs: 15_000 };
const peer = "victoria-metrics";
/** A folder that nothing was written to for this long is idle. */
const quietSeconds = 15;
/** A round of checkpoints of a quiet server takes up to this long; what is not idle then is measured as it is, and the row says so. */
const idleSecondsMax = 280;
/** What is due is to be done so long after the last load. */
const soonMs = 60_000;

/** @type {import("../turns.mjs").Row} */
export const disk = {
  name: "disk",
  what:
    "bytes on disk a sample: 1,000 series of 4,000 samples each, random walks of 3 decimals, 15 s apart (16.7 hours), 10 samples of a series a request; `du -sb` of " +
    `the whole data folder of the running server a minute after its load, and once size and checkpoints have rested for ${quietSeconds} s, VictoriaMetrics after force_flush and force_merge. All servers of ` +
    "all repeats come to rest at the same time; what the walks make the detector find is stored too",
  quick: false,
  async run(context) {
    const file = await context.bodies.get("remote-write", shape);
    const { present, notMeasured } = presentPeers(context, [peer]);
    const servers = { vedette: [], [peer]: [] };
    try {
      for (let repeat = 1; repeat <= context.repeats; repeat++) {
        for (const kind of ["vedette", ...present]) servers[kind].push(await loaded(context, kind, file));
        context.log(`${repeat}/${context.repeats} loaded`);
      }
      const [ours, theirs] = await Promise.all([
        restedFolders(context, servers.vedette, vedetteState),
        restedFolders(context, servers[peer], folderBytes),
      ]);
      const stopped = await stoppedBytes(servers.vedette);
      return { lines: lines(ours, theirs, stopped), notMeasured };
    } finally {
      for (const server of [...servers.vedette, ...servers[peer]]) await end(server);
    }
  },
};

function lines(ours, theirs, stopped) {
  const perSample = (folders) => folders.map(({ bytes }) => bytes / shape.samples);
  const parts = ["log", "series", "control"].map(
    (part) => `${part} ${shown(Math.max(...ours.map((folder) => folder.parts[part])) / shape.samples)}`,
  );
  const soon = (folders) => folders.map(({ soonBytes }) => soonBytes / shape.samples);
  const result = [
    { label: "Vedette, a minute after", values: soon(ours), unit: "bytes a sample" },
    { label: "Vedette, idle", values: perSample(ours), unit: "bytes a sample", note: `${parts.join(", ")}; ${restNote(ours)}` },
    { label: "Vedette, stopped", values: stopped.map((bytes) => bytes / shape.samples), unit: "bytes a sample", note: "after SIGTERM" },
  ];
  if (theirs.length === 0) return result;
  return [
    ...result,
    { label: "VictoriaMetrics, a minute after", values: soon(theirs), unit: "bytes a sample" },
    { label: "VictoriaMetrics, idle", values: perSample(theirs), unit: "bytes a sample", note: restNote(theirs) },
    ratioLine("Vedette / VictoriaMetrics, a minute after", soon(ours), soon(theirs), { bar: 1.5, goal: 0.9, lowerIsBetter: true }),
    ratioLine("Vedette / VictoriaMetrics, idle", perSample(ours), perSample(theirs), { bar: 1.5, goal: 0.9, lowerIsBetter: true }),
  ];
}

function restNote(folders) {
  const seconds = Math.max(...folders.map(({ restedAfterSeconds }) => restedAfterSeconds));
  return Number.isFinite(seconds)
    ? `at rest ${seconds.toFixed(0)} s after the last load`
    : `**not at rest** ${idleSecondsMax} s after the last load`;
}

/** A running server that has taken all samples and was told to tidy up, where it can be told. */
async function loaded(context, kind, file) {
  const server = await context.startServer(kind, { keepData: true });
  const result = await context.send({ server, file, connections: 5 });
  if (result.samples !== shape.samples)
    throw new Error(`${kind} took ${result.samples} of ${shape.samples} samples: ${result.firstRefusal}`);
  if (kind === peer) {
    for (const path of ["/internal/force_flush", "/internal/force_merge"])
      await (await fetch(`http://127.0.0.1:${server.port}${path}`)).text();
  }
  return { ...server, soonBytes: pause(soonMs).then(() => folderBytes(server)) };
}

/** Waits until what `stateOf` tells of each server has not changed for `quietSeconds`, and measures the folders. */
async function restedFolders(context, servers, stateOf) {
  const startMs = performance.now();
  const elapsed = () => (performance.now() - startMs) / 1000;
  const seen = servers.map(() => ({ state: "", sinceSeconds: 0 }));
  const isRestless = () => seen.some(({ sinceSeconds }) => elapsed() - sinceSeconds < quietSeconds);
  while (servers.length > 0 && isRestless() && elapsed() < idleSecondsMax) {
    for (const [place, server] of servers.entries()) {
      const state = String(await stateOf(server));
      if (state !== seen[place].state) seen[place] = { state, sinceSeconds: elapsed() };
    }
    await pause(1_000);
  }
  const isAtRest = !isRestless();
  const soonBytes = await Promise.all(servers.map((server) => server.soonBytes));
  return servers.map((server, place) => {
    const { bytes, parts } = measured(server.dataDir);
    context.log(`${server.kind}: ${shown(bytes / shape.samples)} bytes a sample`);
    return {
      bytes,
      soonBytes: soonBytes[place],
      parts,
      restedAfterSeconds: isAtRest ? seen[place].sinceSeconds : Number.POSITIVE_INFINITY,
    };
  });
}

/** A checkpoint that finds room in the file does not change its size. */
async function vedetteState(server) {
  return `${folderBytes(server)} ${(await server.metrics()).sum("vedette_checkpoints_stored_total")}`;
}

function folderBytes({ dataDir }) {
  return du(dataDir);
}

function measured(folder) {
  const parts = Object.fromEntries(
    ["log", "series", "control"].map((name) => [name, existsSync(join(folder, name)) ? du(join(folder, name)) : 0]),
  );
  return { bytes: du(folder), parts };
}

/** A file that goes away meanwhile makes du complain, and still print its sum. */
function du(path) {
  return Number.parseInt(spawnSync("du", ["-sb", path], { encoding: "utf8" }).stdout, 10);
}

async function stoppedBytes(servers) {
  const sizes = [];
  for (const server of servers) {
    await server.stop();
    sizes.push(folderBytes(server));
  }
  return sizes;
}

async function end(server) {
  await server.kill();
  rmSync(server.dataDir, { recursive: true, force: true });
}
