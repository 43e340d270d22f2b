// Builds the user interface and holds its size against what it may have: bytes on the wire (brotli) of all files and of what the first view needs, and the
// requests of that view. Part of `make check`.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

await import("./build-web.mjs");

const folder = "dist/web";
/** Each page is fetched with the first look at it: the whole grows with the pages, the first view does not. */
const wholeBytesMax = 130_000;
const firstBytesMax = 50_000;
const firstRequestsMax = 8;

/** Bytes of a file as a browser over https fetches it. */
function wireBytes(name, names) {
  return statSync(join(folder, names.includes(`${name}.br`) ? `${name}.br` : name)).size;
}

const names = readdirSync(folder);
const own = names.filter((name) => /\.(html|js|css|svg)$/.test(name));
const first = JSON.parse(readFileSync(join(folder, "first-view.json"), "utf8"));
const sum = (list) => list.reduce((bytes, name) => bytes + wireBytes(name, names), 0);
const whole = sum(own);
const firstBytes = sum(first);
console.log(`web: ${(whole / 1000).toFixed(1)} kB in brotli, first view ${(firstBytes / 1000).toFixed(1)} kB in ${first.length} requests`);
if (own.length === 0 || whole > wholeBytesMax || firstBytes > firstBytesMax || first.length > firstRequestsMax) {
  console.error(`more than ${wholeBytesMax} bytes in all, ${firstBytesMax} in the first view, or ${firstRequestsMax} requests`);
  process.exitCode = 1;
}
