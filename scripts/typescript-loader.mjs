// Lets node run the project's TypeScript as it stands: `node --import ./scripts/typescript-loader.mjs file.ts`. Types are cut out, nothing is checked.
// Only Node before 22.18 needs it; newer ones do the same by themselves. What was cut out is kept under dist/, named by the hash of its source, because the
// compiler takes longer to load than all of this to run.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { register } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

const FOLDER = "dist/.without-types";

/** Hook of node:module. */
export async function load(url, context, nextLoad) {
  if (!url.endsWith(".ts")) return nextLoad(url, context);
  const fileName = fileURLToPath(url);
  const text = readFileSync(fileName, "utf8");
  const kept = join(FOLDER, `${createHash("sha256").update(fileName).update(text).digest("hex")}.js`);
  const source = existsSync(kept) ? readFileSync(kept, "utf8") : keep(kept, await withoutTypes(fileName, text));
  return { format: "module", source, shortCircuit: true };
}

async function withoutTypes(fileName, text) {
  const { default: ts } = await import("typescript");
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2023,
    verbatimModuleSyntax: true,
    inlineSourceMap: true,
  };
  return ts.transpileModule(text, { fileName, compilerOptions }).outputText;
}

/** Written beside and renamed, as several processes may do this at once. */
function keep(path, source) {
  mkdirSync(FOLDER, { recursive: true });
  const beside = `${path}.${process.pid}`;
  writeFileSync(beside, source);
  renameSync(beside, path);
  return source;
}

if (isMainThread && !process.features.typescript) register(import.meta.url);
