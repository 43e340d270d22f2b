// The programs in C++: compiled when missing or older than their source. They lie in dist/, which `make clean` deletes.
import { spawnSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const sourceFolder = dirname(fileURLToPath(import.meta.url));
const folder = join(sourceFolder, "..", "dist", "native-bench");

const compiler = process.env.CXX ?? "g++";

const BINARIES = {
  send: { flags: ["-O2"], libraries: [], packages: "g++", lacks: "the load sender" },
  limit: {
    flags: ["-O3", "-march=native"],
    libraries: ["-lsnappy"],
    packages: "g++ libsnappy-dev libxxhash-dev",
    lacks: "the native limit",
  },
  "limit-spans": { flags: ["-O3", "-march=native"], libraries: [], packages: "g++ libxxhash-dev", lacks: "the native walk of spans" },
};

/** @type {Map<string, string>} why a binary is missing, one line each */
const faults = new Map();

/** Path of a compiled program. */
export function binaryOf(/** @type {"send" | "limit" | "limit-spans"} */ name) {
  return join(folder, name);
}

/** One line on what to install, when the program could not be compiled. */
export function missingTool(/** @type {string} */ name) {
  return faults.get(name);
}

/** Compiles what is missing or out of date; a program that cannot be compiled is told of by `missingTool`. */
export function compileBinaries(/** @type {(text: string) => void} */ log) {
  mkdirSync(folder, { recursive: true });
  for (const [name, { flags, libraries, packages, lacks }] of Object.entries(BINARIES)) {
    const source = join(sourceFolder, `${name}.cpp`);
    const binary = join(folder, name);
    if (modifiedMs(binary) > Math.max(modifiedMs(source), modifiedMs(join(sourceFolder, "limit.hpp")))) continue;
    log(`compiling ${name}.cpp`);
    const { status, error, stderr } = spawnSync(compiler, ["-std=c++17", ...flags, "-o", binary, source, ...libraries], {
      encoding: "utf8",
    });
    if (status === 0) continue;
    const detail = error?.message ?? stderr.split("\n").find((line) => line.includes("error")) ?? `${compiler} ended with ${status}`;
    faults.set(name, `${lacks}, which could not be compiled (${detail}); apt-get install ${packages}`);
  }
}

function modifiedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY;
}
