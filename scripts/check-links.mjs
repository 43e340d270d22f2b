// Checks that relative links lead to files: those of Markdown pages, and those in comments of the sources (those to pages of docs).
// usage: node scripts/check-links.mjs; prints each broken link as path:line and exits with 1 where there is one
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const LINK = /\]\(([^()\s]+)\)/g;
const SOURCES = /\.(md|ts|mjs|cjs|js)$/;

const paths = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
  encoding: "utf8",
  maxBuffer: 2 ** 26,
})
  .split("\0")
  .filter((path) => SOURCES.test(path) && existsSync(path));
let links = 0;
const broken = paths.flatMap((path) =>
  readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line, index) =>
      [...line.matchAll(LINK)]
        .map(([, target]) => target.split("#")[0])
        .filter((target) => (path.endsWith(".md") || target.endsWith(".md")) && target !== "" && !/^[a-z+]+:/.test(target))
        .filter((target) => ++links > 0 && !existsSync(join(dirname(path), target)))
        .map((target) => `${path}:${index + 1}  ${target}`),
    ),
);
for (const line of broken) console.log(line);
if (links < 50) console.log(`only ${links} links were found: this check looks at the wrong files`);
process.exitCode = broken.length > 0 || links < 50 ? 1 : 0;
