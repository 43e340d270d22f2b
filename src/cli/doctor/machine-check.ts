// `vedette doctor` without --data: what of this machine and of the settings a server would trip over, each with what to do. Nothing is changed; a port is opened and closed again.
import { existsSync, readFileSync, statfsSync, statSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { dirname, join, resolve } from "node:path";
import { loadUwsLibrary } from "../../adapters/http/uws/uws-library.ts";
import { holderOf } from "../../adapters/log/folder-lock.ts";
import { GIB } from "../../core/config/byte-units.ts";
import type { Config } from "../../core/config/load-config.ts";
import { EXIT } from "../../server/exit-code.ts";
import { writeLine } from "../../server/terminal.ts";
import { writeJson } from "../client/table-text.ts";
import { finding, type MachineFinding, portFindings } from "./port-check.ts";

/** Less does not hold a day of 10,000 samples a second and what is being compacted. */
const FREE_GIB_MIN = 5;
/** A small server with its heap, its kernel memory and the page cache of its stores. */
const MEMORY_GIB_MIN = 1;
const FILES_MIN = 4_096;
/** Samples further in the future are refused: a clock behind the senders' refuses all of them. */
const CLOCK_YEAR_MIN = 2025;

/** Checks and shows; exit code 1 where there is a problem, warnings do not count. */
export async function runMachineCheck(config: Config, options: { readonly isJson: boolean; readonly nowMs: number }): Promise<number> {
  const findings = [
    coresFinding(),
    memoryFinding(),
    filesFinding(),
    clockFinding(options.nowMs),
    binaryFinding(config.HTTP_ENGINE),
    folderFinding(config.DATA_DIR),
    diskFinding(config.DATA_DIR),
    ...(await portFindings(config)),
  ];
  if (options.isJson) writeJson({ findings });
  else
    for (const { subject, state, what, advice } of findings)
      writeLine(`${state.padEnd(8)} ${subject}: ${what}${advice === "" ? "" : `. ${advice}`}`);
  return findings.some(({ state }) => state === "problem") ? EXIT.problems : EXIT.ok;
}

function coresFinding(): MachineFinding {
  const cores = availableParallelism();
  if (cores >= 2) return finding("cores", `${cores}`);
  return finding("cores", "1", {
    state: "warning",
    advice: "It works on one core, with neither bursts nor neighbours; two are recommended",
  });
}

function memoryFinding(): MachineFinding {
  const limit = cgroupLimit();
  const gib = Math.min(totalmem(), limit) / GIB;
  const what = `${gib.toFixed(1)} GiB${limit < totalmem() ? ", by the limit of its control group" : ""}`;
  if (gib >= MEMORY_GIB_MIN) return finding("memory", what);
  return finding("memory", what, { state: "warning", advice: `Give it ${MEMORY_GIB_MIN} GiB or more, or set SERIES_LIMIT` });
}

/** Bytes that the control group may have; infinite where there is none. */
function cgroupLimit(): number {
  const text = readOr("/sys/fs/cgroup/memory.max", "max").trim();
  return text === "max" || !(Number(text) > 0) ? Number.POSITIVE_INFINITY : Number(text);
}

function filesFinding(): MachineFinding {
  const [, text = "unlimited"] = /^Max open files\s+(\S+)/m.exec(readOr("/proc/self/limits", "")) ?? [];
  const files = text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text);
  if (files >= FILES_MIN) return finding("open files", text);
  return finding("open files", text, {
    state: "warning",
    advice: `Each connection takes one: LimitNOFILE=65536 in the unit, or ulimit -n ${FILES_MIN}`,
  });
}

function clockFinding(nowMs: number): MachineFinding {
  const text = new Date(nowMs).toISOString();
  if (new Date(nowMs).getUTCFullYear() >= CLOCK_YEAR_MIN) return finding("clock", text);
  return finding("clock", text, {
    state: "problem",
    advice: "It is wrong, and samples of others would be in the future: set it, and keep it by NTP",
  });
}

function binaryFinding(engine: string): MachineFinding {
  const node = `Node ${process.versions.node}, ABI ${process.versions.modules}`;
  if (engine === "node") return finding("HTTP", `node:http, as HTTP_ENGINE says (${node})`);
  const loaded = loadUwsLibrary();
  if ("library" in loaded) return finding("HTTP", `uWebSockets.js, its binary has the pinned sha256 (${node})`);
  const advice =
    "node:http does the work, at a higher cost of CPU; uWebSockets.js needs Linux on x64 with glibc 2.38 for newer Node, or 2.28 for Node 20";
  return finding("HTTP", `${loaded.reason} (${node})`, { state: engine === "uws" ? "problem" : "warning", advice });
}

function folderFinding(dataDir: string): MachineFinding {
  const path = resolve(dataDir);
  if (!existsSync(path)) return finding("data folder", `${path} is made by the first start`);
  const holder = holderOf(path);
  if (holder !== undefined) return finding("data folder", `${path}, in use by process ${holder}`);
  const stat = statSync(path);
  const uid = process.getuid?.() ?? stat.uid;
  if (stat.uid === uid || uid === 0) return finding("data folder", path);
  return finding("data folder", path, {
    state: "problem",
    advice: `It belongs to user ${stat.uid}, this is ${uid}: run the server as its owner, or chown it`,
  });
}

function diskFinding(dataDir: string): MachineFinding {
  const stat = statfsSync(existingParent(resolve(dataDir)));
  const [free, all] = [(stat.bavail * stat.bsize) / GIB, (stat.blocks * stat.bsize) / GIB];
  const what = `${free.toFixed(1)} of ${all.toFixed(1)} GiB free`;
  if (free >= FREE_GIB_MIN) return finding("disk", what);
  return finding("disk", what, {
    state: "warning",
    advice: "Make room, or set DISK_LIMIT_GIB: writes get 503 on a full disk, and nothing is lost",
  });
}

function existingParent(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existingParent(dirname(path));
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(join(path), "utf8");
  } catch {
    return otherwise;
  }
}
