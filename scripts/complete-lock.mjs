// Adds to package-lock.json, or to that of the folder given, the optional packages of other platforms that the registry in use does not offer.
// usage: node scripts/complete-lock.mjs [test], after an `npm install` that changed the lock
//
// A registry that mirrors one platform only makes npm write a lock without the others, and `npm ci` refuses such a lock everywhere
// ("Missing: ... from lock file"). Version and platform follow from the parent's pin and the package's name; with no integrity hash
// to be had, npm takes the one of the registry where such a package is installed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const lockPath = join(process.argv[2] ?? ".", "package-lock.json");
const systems = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const processors = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

/** The platform in a name such as `@biomejs/cli-linux-arm64-musl`, as npm's `os`, `cpu` and `libc` fields. */
function platform(name) {
  const words = name.split("/").at(-1).split("-");
  const found = (list) => list.filter((word) => words.includes(word));
  const libc = words.includes("musl") ? ["musl"] : words.includes("gnu") ? ["glibc"] : [];
  const fields = { os: found(systems), cpu: found(processors), libc };
  return Object.fromEntries(Object.entries(fields).filter(([, values]) => values.length > 0));
}

/** The lock's key that Node would find for `name` from the package at `parentKey`, or undefined. */
function findKey(packages, parentKey, name) {
  for (let from = parentKey; ; from = from.slice(0, Math.max(0, from.lastIndexOf("/node_modules/")))) {
    const key = `${from === "" ? "" : `${from}/`}node_modules/${name}`;
    if (packages[key]) return key;
    if (from === "") return undefined;
  }
}

function missingEntries(packages) {
  const missing = {};
  for (const [parentKey, parent] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
      if (findKey(packages, parentKey, name)) continue;
      if (!/^\d/.test(version)) throw new Error(`${parentKey} wants ${name}@${version}, which is not one version`);
      const fields = platform(name);
      if (!fields.os && !fields.cpu) throw new Error(`${name} names no platform`);
      missing[`node_modules/${name}`] = { version, ...fields, ...(parent.dev ? { dev: true } : {}), optional: true };
    }
  }
  return missing;
}

const lock = JSON.parse(readFileSync(lockPath, "utf8"));
const missing = missingEntries(lock.packages);
const entries = Object.entries({ ...lock.packages, ...missing }).sort(([a], [b]) => a.localeCompare(b, "en"));
writeFileSync(lockPath, `${JSON.stringify({ ...lock, packages: Object.fromEntries(entries) }, null, 2)}\n`);
console.log(`added ${Object.keys(missing).length} packages`);
