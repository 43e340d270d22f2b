// Runs the tests that need no build and start no server: those of test/unit and test/property that come to nothing of dist/ by what they import. The others are named.
// usage: node scripts/fast-tests.mjs
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const folders = ["test/unit", "test/property"];
/** What a file says that reads dist/, or starts processes of it. */
const builtPattern = /["'`/]dist\//;
/** Imports that stay, dynamic ones too; those of types alone are gone when a file runs. */
const importPattern = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;
const typePattern = /^import type .*$/gm;

const importsByFile = new Map();

function importsOf(file) {
  const text = readFileSync(file, "utf8").replace(typePattern, "");
  const imports = Array.from(text.matchAll(importPattern), ([, path]) => join(dirname(file), path)).filter((path) => existsSync(path));
  return { imports, isBuilt: file.startsWith("test/") && builtPattern.test(text) };
}

/** Returns whether a test comes to something of dist/. Files of src are not followed: they know nothing of tests. */
function needsBuild(test) {
  const seen = new Set([test]);
  for (const file of seen) {
    if (!importsByFile.has(file)) importsByFile.set(file, importsOf(file));
    const { imports, isBuilt } = importsByFile.get(file);
    if (isBuilt) return true;
    for (const path of imports) if (path.startsWith("test/")) seen.add(path);
  }
  return false;
}

const tests = folders
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))))
  .filter((path) => path.endsWith(".test.ts"))
  .sort();
const left = tests.filter(needsBuild);
console.log(`Left out, since they need what \`make build\` makes:\n${left.map((path) => `  ${relative("test", path)}`).join("\n")}\n`);
const fast = tests.filter((path) => !left.includes(path));
const child = spawn(process.execPath, ["scripts/run-tests.mjs", ...fast], {
  stdio: "inherit",
  env: { ...process.env, TEST_EXTENT: "fast" },
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => (process.exitCode = code ?? 1));
