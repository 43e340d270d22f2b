// Paths that comments of sources and pages of documents name, and whether a file or folder of the tree has them.

/** Floors and kinds of tests with which a path without an extension begins, in backticks or in a comment. */
const ROOTS =
  "src|docs|test|scripts|native-bench|schemas|packaging|actors|adapters|api|cli|core|domain|modules|server|web|chaos|conformance|eval|fault|fuzz|golden|property|real|security|sim|soak|unit";
const FILE = /(?<![\w@$%./:~<-])(?:\.{0,2}\/)*[\w{][\w.{},*-]*(?:\/[\w.{},*-]+)*\.(?:ts|tsx|mjs|cjs|proto|md)\b(?![\w/(-])/g;
const FOLDER = new RegExp(`(?<![\\w@$%./:~<>-])(?:${ROOTS})/[\\w{][\\w.{},*/-]*[\\w*}](?![\\w-]*<)`, "g");
/** Names of files that others have, that stand for any, or that a build makes; paths of HTTP. */
const FOREIGN = /\bapi\/v1\b|^(?:file\.ts|trace_config\.proto)$|^dist\/|^node_modules\//;

/** Returns what can be looked up: each alternative of {a,b} apart. */
function alternatives(path) {
  const braces = /\{([^{}]*)\}/.exec(path);
  if (braces === null) return [path];
  return braces[1]
    .split(",")
    .flatMap((part) => alternatives(path.slice(0, braces.index) + part + path.slice(braces.index + braces[0].length)));
}

/** All paths of the tree, files and folders, ready to be asked for whole paths and for their ends. */
export class Tree {
  #ends = new Set();
  #all;

  constructor(paths) {
    const all = new Set();
    for (const path of paths) {
      const parts = path.split("/");
      for (let length = 1; length <= parts.length; length++) all.add(parts.slice(0, length).join("/"));
    }
    this.#all = [...all];
    for (const path of all) {
      const parts = path.split("/");
      for (let from = 0; from < parts.length; from++) this.#add(parts.slice(from).join("/"));
    }
  }

  #add(end) {
    this.#ends.add(end);
    this.#ends.add(end.replace(/(?:\.test)?\.(?:ts|tsx|mjs|cjs|proto|md)$/, ""));
  }

  /** Returns true if a file or folder has this path, or a path that ends so. */
  has(path) {
    const name = path.replace(/^(?:\.{1,2}\/)+/, "").replace(/\/$/, "");
    if (!name.includes("*")) return this.#ends.has(name);
    const pattern = new RegExp(
      `(?:^|/)${name.replace(/[.+^$()|[\]\\]/g, "\\$&").replace(/\*+/g, "[^ ]*")}(?:\\.test)?(?:\\.tsx?|\\.mjs|\\.md)?$`,
    );
    return this.#all.some((all) => pattern.test(all));
  }
}

/** Returns the paths that a line of prose names. */
export function namedPaths(line) {
  const text = line.replace(/\]\([^()\s]*\)/g, "]").replace(/\b[a-z+]+:\/\/\S+/g, "");
  return [...new Set([...text.matchAll(FILE), ...text.matchAll(FOLDER)].map(([path]) => path.replace(/[.,]+$/, "")))]
    .flatMap(alternatives)
    .filter((path) => !FOREIGN.test(path));
}

/** Returns {line, path} for each path of these lines that the tree has not. */
export function stalePaths(lines, tree) {
  return lines.flatMap(({ line, text }) =>
    namedPaths(text)
      .filter((path) => !tree.has(path))
      .map((path) => ({ line, path })),
  );
}

/** Returns {line, text} of the lines of a source that are comments, whole or at their end. */
export function commentsOf(text) {
  return text.split("\n").flatMap((line, index) => {
    const comment = /^\s*(?:\*|\/\*|\/\/).*/.exec(line)?.[0] ?? /\s\/\/ .*$/.exec(line)?.[0];
    return comment === undefined ? [] : [{ line: index + 1, text: comment }];
  });
}
