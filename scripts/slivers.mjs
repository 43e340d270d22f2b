// Slivers, for check-house.mjs: files of src below 40 lines that fewer than two files import. They belong into their importer, unless their kind is a reason.
import { dirname, join } from "node:path";

const LINES_MIN = 40;
const IMPORTERS_MIN = 2;
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

/** Returns the slivers of src, sorted; files are {path, text} of src and of what else imports them. */
export function slivers(files) {
  const importers = new Map();
  for (const file of files) for (const path of importsOf(file)) importers.set(path, (importers.get(path) ?? 0) + 1);
  return files
    .filter(({ path }) => path.startsWith("src/") && !REASONS.some(({ kind }) => kind.test(path)))
    .filter(({ path, text }) => text.split("\n").length <= LINES_MIN && (importers.get(path) ?? 0) < IMPORTERS_MIN)
    .map(({ path }) => path)
    .sort();
}
