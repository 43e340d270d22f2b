// Slivers, for check-house.mjs: files of src below 40 lines that fewer than two files of src import; what tests import counts for nothing. They belong into
// their importer, unless that stands in another room, whose business it is not, or would have more than 500 lines with it, or unless their kind is a reason.
import { dirname, join } from "node:path";

const LINES_MIN = 40;
const IMPORTERS_MIN = 2;
/** As tidy.mjs has it. */
const IMPORTER_LINES_MAX = 500;
const IMPORT = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

/** Kinds of files that may be short and have one importer. */
const REASONS = [
  { kind: /^src\/modules\/[^/]+\/[^/]+-module\.ts$/, reason: "what a noun brings to the coordinator; nouns/modules.ts alone reads it" },
  { kind: /^src\/core\/config\/[^/]+\.ts$/, reason: "maxima stand in the configuration, whoever uses them" },
  { kind: /^src\/adapters\/notify\/[^/]+-sender\.ts$/, reason: "a channel is a file" },
  { kind: /^src\/api\/(?:endpoints|shapes)\//, reason: "declarations of a noun" },
  { kind: /^src\/web\/(?:pages|app)\//, reason: "a page is a file" },
  {
    kind: /(?:\/generated\/|\.d\.ts$|\/worker\.ts$|-process\.ts$|^src\/(?:web\/)?[^/]+$)/,
    reason: "entries, types of others and what is generated",
  },
  {
    kind: /^src\/(?:domain\/kernel\/assembly|core\/layout)\//,
    reason: "layouts of memory, and AssemblyScript has a module graph of its own",
  },
];

/** Returns the files that {path, text} imports by relative paths, each once. */
function importsOf({ path, text }) {
  return new Set(Array.from(text.matchAll(IMPORT), ([, to]) => join(dirname(path), to).replace(/\.js$/, ".ts")));
}

/** Returns the slivers of src, sorted; files are {path, text}, of which those outside of src count for nothing. */
export function slivers(files) {
  const sources = files.filter(({ path }) => path.startsWith("src/"));
  const linesOf = new Map(sources.map(({ path, text }) => [path, text.split("\n").length - 1]));
  const importers = new Map();
  for (const file of sources) for (const path of importsOf(file)) importers.set(path, [...(importers.get(path) ?? []), file.path]);
  const belongsInto = (path, [importer]) =>
    importer === undefined || (roomOf(importer) === roomOf(path) && linesOf.get(importer) + linesOf.get(path) <= IMPORTER_LINES_MAX);
  return [...linesOf]
    .filter(([path, lines]) => lines < LINES_MIN && !REASONS.some(({ kind }) => kind.test(path)))
    .map(([path]) => ({ path, by: importers.get(path) ?? [] }))
    .filter(({ path, by }) => by.length < IMPORTERS_MIN && belongsInto(path, by))
    .map(({ path }) => path)
    .sort();
}

/** Returns the floor and the room of a path: src/domain/codec. */
function roomOf(path) {
  return path.split("/").slice(0, 3).join("/");
}
