// Checks what neither the compiler nor Biome does: sizes, names, default exports, barrels, words outside their homes, strings that bind
// the project to one machine. Prints one line per finding, `file:line reason`, then one line of sizes; exits with 1 if it found anything.
// A file of data or generated code says so with `@data-table` or `@generated` in its first five lines and is exempt from sizes.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import ts from "typescript";
import { findWords } from "./tidy-words.mjs";

const fileLinesMax = 500;
const fileLinesLong = 300;
const functionLinesMax = 70;
/** A file is strong, neither a sliver (slivers.mjs) nor a god file: half of them have more lines than the median, which is to lie between these. */
const fileLinesMedianAimMin = 100;
const fileLinesMedianAimMax = 150;
const functionLinesP90Aim = 40;
const textBytesMax = 4 * 1024 * 1024;

const bannedWords = new Set(["util", "utils", "helper", "helpers", "misc", "manager", "managers"]);
const bannedNames = new Set(["common", "types", "index"]);
/** Tools load these by their default export. */
const defaultExportFiles = new Set(["vitest.config.ts", "scripts/test-tally.mjs"]);
/** AssemblyScript takes the exports of its entry file as those of the WebAssembly module. */
const barrelFolder = "src/domain/kernel/assembly/";
const machineStrings = [
  [/(?<![\w.~}-])\/work\//, "path of one machine"],
  [/\bregistry\.(?:npmjs|npmmirror|yarnpkg)\.[a-z]+|\bnpm\.pkg\.github\.com|_auth[T]oken/, "package registry"],
];

function main() {
  const paths = listFiles();
  const findings = paths.flatMap(findStrings);
  const files = paths.filter((path) => /^(src|test|scripts|native-bench)\/.*\.[cm]?[tj]sx?$|^[^/]+\.[cm]?[tj]s$/.test(path)).map(parseFile);
  const functions = files.flatMap((file) => file.functions);
  for (const file of files) {
    findings.push(...findName(file), ...findSizes(file), ...findExports(file), ...findWords(file));
  }
  for (const { path, line, reason } of findings.sort(byPlace)) console.log(`${path}:${line} ${reason}`);
  printSizes(
    files.filter(({ path }) => path.startsWith("src/")),
    functions.filter(({ path }) => path.startsWith("src/")),
  );
  console.log(findings.length === 0 ? `${files.length} files are tidy` : `${findings.length} findings`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}

/** Tracked files and new ones that git does not ignore. */
function listFiles() {
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    encoding: "utf8",
  });
  const paths = [...new Set(list.split("\0"))].filter((path) => path !== "" && existsSync(path) && statSync(path).isFile());
  if (paths.length === 0) throw new Error("git lists no files here");
  return paths;
}

function findStrings(path) {
  if (basename(path) === "package-lock.json" || statSync(path).size > textBytesMax) return [];
  const text = readFileSync(path, "latin1");
  if (text.includes("\0")) return [];
  return text.split("\n").flatMap((line, index) => {
    const found = machineStrings.filter(([pattern]) => pattern.test(line));
    return found.map(([, what]) => ({ path, line: index + 1, reason: `${what} in a tracked file` }));
  });
}

/** Reads one source; `functions` holds {path, name, line, lines} of every function with a body, `describe` blocks left out. */
function parseFile(path) {
  const text = readFileSync(path, "utf8");
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines = text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  const exempt = /@data-table|@generated/.test(text.split("\n", 5).join("\n"));
  const file = { path, source, lines, exempt, functions: [] };
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body && !isDescribe(node)) file.functions.push(measure(file, node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return file;
}

function isDescribe(node) {
  return ts.isCallExpression(node.parent) && /^(describe|suite)\b/.test(node.parent.expression.getText());
}

function measure({ path, source }, node) {
  const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
  const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
  const name = (node.name ?? node.parent?.name)?.getText(source) ?? "function";
  return { path, name, line: first + 1, lines: last - first + 1 };
}

function findName({ path }) {
  const stem = basename(path).replace(/(\.(test|config|d))?\.[cm]?[tj]sx?$/, "");
  if (stem.startsWith(".")) return [];
  const findings = [];
  for (const name of [stem, ...dirname(path).split("/")]) {
    const banned = bannedNames.has(name) || name.split("-").some((word) => bannedWords.has(word));
    if (banned) findings.push({ path, line: 1, reason: `'${name}' names nothing: find the noun` });
  }
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(stem)) findings.push({ path, line: 1, reason: "file names are kebab-case" });
  return findings;
}

function findSizes({ path, lines, exempt, functions }) {
  if (exempt) return [];
  const findings = functions
    .filter((entry) => entry.lines > functionLinesMax)
    .map((entry) => ({
      path,
      line: entry.line,
      reason: `${entry.name} has ${entry.lines} lines, at most ${functionLinesMax}`,
    }));
  if (lines > fileLinesMax) findings.push({ path, line: 1, reason: `file has ${lines} lines, at most ${fileLinesMax}` });
  return findings;
}

function findExports({ path, source }) {
  const findings = [];
  const isDefault = (node) => node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword);
  const namesDefault = (node) => ts.isExportDeclaration(node) && node.exportClause?.elements?.some(({ name }) => name.text === "default");
  for (const node of source.statements) {
    if (defaultExportFiles.has(path) || !(ts.isExportAssignment(node) || isDefault(node) || namesDefault(node))) continue;
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    findings.push({ path, line, reason: "default export: name it" });
  }
  const passesOn = (node) => ts.isExportDeclaration(node) && (node.moduleSpecifier || node.exportClause?.elements?.length > 0);
  const onlyPasses = !path.startsWith(barrelFolder) && source.statements.every((node) => passesOn(node) || ts.isImportDeclaration(node));
  if (onlyPasses && source.statements.some(passesOn)) findings.push({ path, line: 1, reason: "barrel: import from the source instead" });
  return findings;
}

function printSizes(files, functions) {
  const fileLines = files.filter(({ exempt }) => !exempt).map(({ lines }) => lines);
  const median = quantile(fileLines, 0.5);
  const p90 = quantile(
    functions.map(({ lines }) => lines),
    0.9,
  );
  const long = files.filter(({ lines, exempt }) => !exempt && lines > fileLinesLong).sort((a, b) => b.lines - a.lines);
  if (long.length > 0) {
    console.log(`long, over ${fileLinesLong} lines: ${long.map(({ path, lines }) => `${path} ${lines}`).join(", ")}`);
  }
  const isMissed = median < fileLinesMedianAimMin || median > fileLinesMedianAimMax || p90 > functionLinesP90Aim;
  console.log(
    `src: ${files.length} files, median ${median} lines (aim ${fileLinesMedianAimMin} to ${fileLinesMedianAimMax}); ${functions.length} functions, ` +
      `90th percentile ${p90} lines (aim ${functionLinesP90Aim})${isMissed ? " - aim missed" : ""}`,
  );
}

function quantile(values, q) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
}

function byPlace(a, b) {
  return a.path.localeCompare(b.path) || a.line - b.line;
}

main();
