// What a comparison of pairs runs in: the compiled clients, a folder that goes with the process, turns of three seconds.
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { compileBinaries } from "./binaries.mjs";
import { createContext } from "./context.mjs";

export function createPairContext() {
  const log = (text) => console.error(text);
  compileBinaries(log);
  const workDir = resolve(join(import.meta.dirname, "..", "dist", "native-bench"), `pairs-${process.pid}`);
  process.on("exit", () => rmSync(workDir, { recursive: true, force: true }));
  return { ...createContext({ repeats: 1, quick: true, workDir, log }), warmSeconds: 3 };
}
