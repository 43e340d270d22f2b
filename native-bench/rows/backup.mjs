// Backups beside a server at half of what it takes, and a million streams restored from one.
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { coldPlantCount } from "../bodies/planted.mjs";
import { detectionTurn } from "../clients/detection-turn.mjs";
import { shown } from "../measure.mjs";
import { saturationTurn, takeTurns } from "../turns.mjs";

const main = join(fileURLToPath(new URL("../..", import.meta.url)), "dist", "main.js");
const samplesPerRequest = 2_000;
const planting = { series: 10_000, every: 8, coldEvery: 3 };
const plants = 2_670;
const earlyShare = 0.7;
const streams = 1_000_000;
const fill = { series: streams, perRequest: samplesPerRequest, samplesPerSeries: 12, samples: 12 * streams, values: "small" };
const settleMs = 3_000;

/** @type {import("../turns.mjs").Row} */
export const backup = {
  name: "backup",
  what:
    "detection latency at half of row 1's closed-loop rate, as row 8 measures it, alone and with one backup after another (BACKUP_MIB_PER_SECOND as by default): anomalies that are missing, samples refused, p99; and " +
    "1,000,000 streams of 12 samples: time of vedette restore into a new folder, and from there to /readyz, files in the page cache",
  quick: false,
  async run(context) {
    const file = await context.bodies.get("planted", { ...planting, plants });
    const saturating = await context.bodies.get("A");
    const many = await context.bodies.get("remote-write", { ...fill, endMs: Math.floor(Date.now() / 1000) * 1000 - 60_000 });
    const half =
      (options) =>
      (_repeat, { saturation }) => {
        const requestsPerSecond = saturation.at(-1).warm.samplesPerSecond / 2 / samplesPerRequest;
        return detectionTurn(context, { file, planting, requestsPerSecond, earlyPerSecond: earlyShare * requestsPerSecond, ...options() });
      };
    const contestants = {
      saturation: () => saturationTurn(context, saturating),
      alone: half(() => ({})),
      beside: half(() => besideBackups(context)),
    };
    const turns = await takeTurns(context, contestants, { attemptsMax: 3 });
    const restored = await restoreTurn(context, many);
    return { lines: lines(turns, restored), notMeasured: ["a disk that is slower than it is written to"] };
  },
};

function lines({ alone, beside }, restored) {
  const made = beside.map(({ bystanders }) => bystanders);
  const p99 = (turns) => turns.map(({ server }) => server.p99Ms);
  return [
    { label: "detection p99 alone", values: p99(alone), unit: "ms", note: "stored, by the server's own histogram" },
    {
      label: "detection p99 with backups beside",
      values: p99(beside),
      unit: "ms",
      bar: 100,
      goal: 50,
      lowerIsBetter: true,
      note: `${made.map(({ count }) => count).join(", ")} backups of ${shown(Math.max(...made.map(({ mib }) => mib)))} MiB at most`,
    },
    {
      label: "planted anomalies stored with backups beside",
      values: beside.map(({ stored }) => stored),
      unit: `of ${shown(plants)}`,
      bar: plants,
      goal: plants,
      note: `${coldPlantCount} of them cold; refused: 0, or the row fails`,
    },
    { label: "backup of a million streams", values: [restored.backupSeconds], unit: "s", note: `${shown(restored.mib)} MiB` },
    { label: "restored, a million streams, checked and copied", values: [restored.restoreSeconds], unit: "s" },
    {
      label: "restored and started to /readyz, a million streams",
      values: [restored.restoreSeconds + restored.startSeconds],
      unit: "s",
      bar: 30,
      goal: 20,
      lowerIsBetter: true,
      note: `the start ${shown(restored.startSeconds)} s; ${shown(restored.streams)} streams are there`,
    },
  ];
}

/** Makes backups one after another until the server has ended. */
function besideBackups(context) {
  const folder = join(context.workDir, "backups-beside");
  mkdirSync(folder, { recursive: true });
  return {
    env: { BACKUP_DIR: folder, BACKUP_KEEP: "2" },
    during: async (server) => {
      let [goesOn, count, mib] = [true, 0, 0];
      const making = (async () => {
        while (goesOn) {
          const made = await vedette(["backup", "--json"], { DATA_DIR: server.dataDir, PORT: String(server.port) });
          if (!goesOn) break;
          if (made.code !== 0) throw new Error(`a backup failed: ${made.stderr}${made.stdout}`);
          count++;
          mib = Math.max(mib, JSON.parse(made.stdout).bytes / 2 ** 20);
          await pause(1_000); // a name is of its second
        }
      })();
      making.catch(() => undefined);
      return async () => {
        goesOn = false;
        await making;
        rmSync(folder, { recursive: true, force: true });
        return { count, mib };
      };
    },
  };
}

async function restoreTurn(context, file) {
  const folder = join(context.workDir, "backups-million");
  const restored = join(context.workDir, "restored");
  const env = { SERIES_LIMIT: String(streams + 100_000), BACKUP_DIR: folder, BACKUP_MIB_PER_SECOND: "10000" };
  mkdirSync(folder, { recursive: true });
  const server = await context.startServer("vedette", { env, keepData: true });
  const { dataDir } = server;
  let again;
  try {
    const sent = await context.send({ server, file, connections: 5, coldRequests: streams / samplesPerRequest });
    if (sent.firstRefusal !== "") throw new Error(`refused: ${sent.firstRefusal}`);
    await pause(settleMs);
    const made = await timed(() => vedette(["backup", "--json"], { DATA_DIR: dataDir, PORT: String(server.port) }));
    if (made.value.code !== 0) throw new Error(`the backup failed: ${made.value.stderr}`);
    await server.kill();
    const [name] = readdirSync(folder);
    const restore = await timed(() => vedette(["restore", join(folder, name), "--data", restored], {}));
    if (restore.value.code !== 0) throw new Error(`the restore failed: ${restore.value.stdout}${restore.value.stderr}`);
    const start = await timed(() => context.startServer("vedette", { env, dataDir: restored }));
    again = start.value;
    const held = (await again.metrics()).sum("vedette_streams");
    if (held !== streams) throw new Error(`the restored server holds ${held} streams, not ${streams}`);
    const mib = JSON.parse(made.value.stdout).bytes / 2 ** 20;
    return { backupSeconds: made.seconds, restoreSeconds: restore.seconds, startSeconds: start.seconds, streams: held, mib };
  } finally {
    await Promise.all([server.kill(), again?.kill()]);
    for (const path of [folder, restored, dataDir]) rmSync(path, { recursive: true, force: true });
  }
}

function vedette(args, env) {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code ?? -1), stdout, stderr });
    });
  });
}

async function timed(run) {
  const startMs = performance.now();
  const value = await run();
  return { value, seconds: (performance.now() - startMs) / 1000 };
}
