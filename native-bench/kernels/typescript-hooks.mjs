// Lets a bench import the TypeScript of src/ and test/ as it stands: the types are taken off, nothing is checked. Registered by kernels.mjs.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true };

/** A load hook, see node:module. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return nextLoad(url, context);
  const text = readFileSync(fileURLToPath(url), "utf8");
  return { format: "module", shortCircuit: true, source: ts.transpileModule(text, { compilerOptions }).outputText };
}
