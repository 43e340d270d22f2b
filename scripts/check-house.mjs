// Counts what nobody wants more of, and compares with house-ceilings.json, whose figures only fall: base names that two files of src have, refused words in
// the identifiers that src declares, doc comments that say nothing, constants that stand in two files, short files with one importer, lines of the coordinator (its thread, loop and commits; what is a noun's is its module's), modules in the longest chain, waits for a time in tests, tests with a time limit below the suite's, words of the documents. A path that a comment or a page
// names and nothing has is a finding at once. usage: node scripts/check-house.mjs [--lower | --list]; --lower writes the figures of now where they are
// lower (no option raises one), --list prints what is counted.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import "./typescript-loader.mjs";
import ts from "typescript";
import { compare, lowered, raised } from "./house-ceilings.mjs";
import {
  constantsOf,
  declaredNames,
  emptyComments,
  pageWords,
  pausesOf,
  REFUSED_FORMS,
  refusedWords,
  repeatedConstants,
  tightLimitsOf,
  twinNames,
} from "./house-guards.mjs";
import { importedModules, longestChain } from "./module-chain.mjs";
import { slivers } from "./slivers.mjs";
import { commentsOf, stalePaths, Tree } from "./stale-paths.mjs";

const { default: suite } = await import("../vitest.config.ts");

const CEILINGS = "scripts/house-ceilings.json";
const SOURCE = /\.(?:tsx?|mjs|cjs)$/;
/** AssemblyScript has a module graph of its own, generated code is nobody's. */
const OWN_CONSTANTS = /^src\/(?!domain\/kernel\/assembly\/).*(?<!\/generated\/[^/]*)\.tsx?$/;
/** Pages that tell of the past, or are others'. */
const OTHER_PAGES = /^(?:CHANGELOG\.md|schemas\/opentelemetry\/|test\/golden\/|native-bench\/results\/|test\/fuzz\/results\/)/;
const DOCUMENTS = /^docs\/(?!reference\/).*\.md$/;

function main() {
  const paths = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  })
    .split("\0")
    .filter((path) => path !== "" && existsSync(path));
  const stale = findStale(paths);
  const { counts, lists } = count(paths);
  if (process.argv.includes("--list")) console.log(JSON.stringify(lists, null, 1));
  const ceilings = JSON.parse(readFileSync(CEILINGS, "utf8"));
  if (process.argv.includes("--lower")) writeFileSync(CEILINGS, `${JSON.stringify(lowered(ceilings, counts), null, 2)}\n`);
  const findings = [...stale, ...compare(ceilings, counts), ...raised(ceilingsBefore(), ceilings)];
  for (const finding of findings) console.log(finding);
  console.log(
    `house: ${counts.documentWords} words of documents, ${counts.twinNames.length} names twice, ${counts.repeatedConstants} constants twice`,
  );
  process.exitCode = findings.length > 0 ? 1 : 0;
}

/** The ceilings of the main branch, or of the last commit where there is none; without git nothing is known to have been lower. */
function ceilingsBefore() {
  for (const commit of ["main", "HEAD"]) {
    const { status, stdout } = spawnSync("git", ["show", `${commit}:${CEILINGS}`], { encoding: "utf8" });
    if (status === 0) return JSON.parse(stdout);
  }
  return {};
}

function findStale(paths) {
  const tree = new Tree(paths);
  return paths
    .filter((path) => (path.endsWith(".md") || SOURCE.test(path)) && !OTHER_PAGES.test(path))
    .flatMap((path) => {
      const text = readFileSync(path, "utf8");
      const lines = path.endsWith(".md") ? text.split("\n").map((line, index) => ({ line: index + 1, text: line })) : commentsOf(text);
      return stalePaths(lines, tree).map((found) => `${path}:${found.line} names ${found.path}, which is not there`);
    });
}

/** The texts of src and of what imports it. */
function sourcesAndTests(paths) {
  const all = paths.filter((path) => /^(?:src|test|scripts|native-bench)\/.*\.(?:tsx?|mjs)$/.test(path));
  return all.map((path) => ({ path, text: readFileSync(path, "utf8") }));
}

/** Waits for a time in tests, by file; until.ts is there for what they expect. */
function testPauses(files) {
  return files
    .filter(({ path }) => path.startsWith("test/") && path !== "test/support/until.ts")
    .map(({ path, text }) => ({ path, pauses: pausesOf(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false)) }))
    .filter(({ pauses }) => pauses > 0);
}

/** Tests with a time limit below that of vitest.config.ts, by file. */
function tightLimits(files) {
  return files
    .filter(({ path }) => /^test\/.*\.test\.ts$/.test(path))
    .map(({ path, text }) => ({
      path,
      limits: tightLimitsOf(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false), suite.test.testTimeout),
    }))
    .filter(({ limits }) => limits > 0);
}

function linesBelow(folder, files) {
  return files.filter(({ path }) => path.startsWith(folder)).reduce((sum, { text }) => sum + text.split("\n").length - 1, 0);
}

function count(paths) {
  const sources = paths.filter((path) => /^src\/.*\.tsx?$/.test(path));
  const names = [];
  const comments = [];
  const files = [];
  for (const path of sources) {
    const text = readFileSync(path, "utf8");
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
    names.push(...declaredNames(source));
    comments.push(...emptyComments(text).map((comment) => `${path}: ${comment}`));
    if (OWN_CONSTANTS.test(path)) files.push({ path, constants: constantsOf(source) });
  }
  const repeated = repeatedConstants(files);
  const documentWords = paths.filter((path) => DOCUMENTS.test(path)).reduce((sum, path) => sum + pageWords(readFileSync(path, "utf8")), 0);
  const all = sourcesAndTests(paths);
  const pauses = testPauses(all);
  const limits = tightLimits(all);
  const chain = longestChain(importedModules(all));
  return {
    counts: {
      coordinatorLines: linesBelow("src/actors/coordinator/", all),
      documentWords,
      emptyComments: comments.length,
      moduleChain: chain.length,
      repeatedConstants: repeated.length,
      refusedForms: refusedWords(names, REFUSED_FORMS),
      refusedWords: refusedWords(names),
      slivers: slivers(all),
      testPauses: pauses.reduce((sum, { pauses: count }) => sum + count, 0),
      tightTestLimits: limits.reduce((sum, { limits: count }) => sum + count, 0),
      twinNames: twinNames(sources),
    },
    lists: { emptyComments: comments, moduleChain: chain, repeatedConstants: repeated, testPauses: pauses, tightTestLimits: limits },
  };
}

main();
