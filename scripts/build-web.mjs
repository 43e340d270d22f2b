// Builds the user interface: src/web ▶ dist/web, scripts and style in files named by their content, each with its gzip and brotli twin, and the page that loads
// them. usage: node scripts/build-web.mjs
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

const source = "src/web";
const target = "dist/web";
const compressedBytesMin = 256;

/** Bundles scripts and style; pages come with the first look at them, so they are files of their own. */
function bundle() {
  return build({
    entryPoints: { app: `${source}/main.tsx`, stream: `${source}/live/stream-worker.ts`, style: `${source}/style/style.css` },
    outdir: target,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    target: ["chrome109", "firefox115", "safari16"],
    minify: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    metafile: true,
    legalComments: "none",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "warning",
    tsconfig: `${source}/tsconfig.json`,
  });
}

/** Name of the file that an entry became. */
function outputOf({ outputs }, entry) {
  const found = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === entry);
  if (!found) throw new Error(`${entry} gave no file`);
  return basename(found[0]);
}

/** The scripts that the first script imports at once, which the page names so that they are fetched together. */
function importsOf({ outputs }, name) {
  const seen = new Set();
  const visit = (path) => {
    for (const { path: to, kind } of outputs[path].imports) {
      if (kind !== "import-statement" || seen.has(to)) continue;
      seen.add(to);
      visit(to);
    }
  };
  visit(`${target}/${name}`);
  return [...seen].map((path) => basename(path));
}

function writePage(metafile) {
  const app = outputOf(metafile, `${source}/main.tsx`);
  const style = outputOf(metafile, `${source}/style/style.css`);
  const stream = outputOf(metafile, `${source}/live/stream-worker.ts`);
  const preloads = importsOf(metafile, app).map((name) => `<link rel="modulepreload" href="ui/${name}">`);
  const page = readFileSync(`${source}/page.html`, "utf8")
    .replace("<!-- preloads -->", preloads.join(""))
    .replaceAll("{{app}}", app)
    .replaceAll("{{style}}", style)
    .replaceAll("{{stream}}", stream);
  writeFileSync(join(target, "page.html"), page);
  writeFileSync(join(target, "icon.svg"), readFileSync(`${source}/icon.svg`));
  const first = ["page.html", app, style, ...importsOf(metafile, app)];
  writeFileSync(join(target, "first-view.json"), JSON.stringify(first));
}

function compress() {
  for (const name of readdirSync(target)) {
    const bytes = readFileSync(join(target, name));
    if (bytes.length < compressedBytesMin || name.endsWith(".json")) continue;
    const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(target, `${name}.br`), brotliCompressSync(bytes, { params: quality }));
    writeFileSync(join(target, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  }
}

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const { metafile } = await bundle();
writePage(metafile);
compress();
