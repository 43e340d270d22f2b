// Joins the built server into one file a thread with what they share, for tests that start it hundreds of times: dist/ ▶ dist/.joined/server. A start reads
// some 2,400 modules in four threads, which is half of its processor time; joined it is about 130. Nothing else changes: packages, the kernel, pages and child
// processes are those of dist/. usage: node scripts/build-joined.mjs
import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const source = resolve("dist");
const home = join(source, ".joined");
const target = join(home, "server");
const entries = ["main.js", ...["coordinator", "engine", "notifier", "query"].map((actor) => `actors/${actor}/worker.js`)];
/** Files that start the threads: they find them among the joined ones. All others find what they look for beside themselves, in dist/. */
const starters = new Set(["main.js", "actors/notifier/notifier-thread.js", "actors/query/query-workers.js"]);

const ownAddresses = {
  name: "own-addresses",
  setup(bundler) {
    bundler.onLoad({ filter: /\/dist\/.*\.js$/ }, ({ path }) => {
      const name = relative(source, path);
      const address = JSON.stringify(pathToFileURL(join(starters.has(name) ? target : source, name)).href);
      return { loader: "js", contents: readFileSync(path, "utf8").replaceAll("import.meta.url", address) };
    });
  },
};

rmSync(home, { recursive: true, force: true });
mkdirSync(home, { recursive: true });
copyFileSync("package.json", join(home, "package.json")); // the server reads its version there
await build({
  entryPoints: entries.map((entry) => join(source, entry)),
  outdir: target,
  outbase: source,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  packages: "external",
  plugins: [ownAddresses],
  chunkNames: "shared/[name]-[hash]",
  logLevel: "warning",
});
