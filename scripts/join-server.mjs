// Joins what the server's threads load at a start: src/ ▶ dist/main.js and dist/actors/*/worker.js, each with the packages that it needs, and a map that leads back to src/. A start read some 2,400
// files in four threads, which was half of its processor time. It runs behind the compiler, whose files of these names it replaces; commands, child processes and whoever
// looks at a module alone use the compiler's others. What lies beside a module is found from dist/, as ever. usage: node scripts/join-server.mjs
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { build } from "esbuild";

const source = resolve("src");
const target = resolve("dist");
/** Files that are loaded with an entry, or behind it when they are needed. */
const parts = "joined";
const entries = ["main", ...["coordinator", "engine", "notifier", "query"].map((actor) => `actors/${actor}/worker`)];
/** They load files that lie beside them. */
const notJoined = ["@jitl/*", "@pydantic/*", "jq-wasm", "koffi", "lmdb", "pino", "piscina", "quickjs-emscripten-core", "uWebSockets.js"];
/** Stands for dist/ until it is known how far below it a file lies. */
const placeholder = "path-to-dist:";

const asOfDist = {
  name: "as-of-dist",
  setup(bundler) {
    bundler.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const built = relative(source, path).replace(/\.ts$/, ".js");
      const address = `new URL("${placeholder}/${built}", import.meta.url).href`;
      return { loader: "ts", contents: readFileSync(path, "utf8").replaceAll("import.meta.url", address) };
    });
    // Messages in forty languages, of which English is loaded by itself.
    bundler.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ loader: "js", contents: "export {};" }));
  },
};

async function joinEntry(entry) {
  const { outputFiles } = await build({
    entryPoints: [join(source, `${entry}.ts`)],
    outdir: target,
    outbase: source,
    bundle: true,
    splitting: true, // commands are loaded when they are called
    chunkNames: `${parts}/${entry.replaceAll("/", "-")}/[name]-[hash]`,
    format: "esm",
    platform: "node",
    target: "node20",
    external: notJoined,
    plugins: [asOfDist],
    // Packages in CommonJS ask for modules of Node by it.
    banner: { js: 'import { createRequire as requireMaker } from "node:module"; const require = requireMaker(import.meta.url);' },
    sourcemap: true,
    sourcesContent: false,
    legalComments: "none", // they stand in the packages, which are installed
    logLevel: "warning",
    write: false,
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, path.endsWith(".js") ? text.replaceAll(placeholder, relative(dirname(path), target) || ".") : text);
  }
}

rmSync(join(target, parts), { recursive: true, force: true });
await Promise.all(entries.map(joinEntry));
