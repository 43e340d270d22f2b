// `make package`: dist/package/vedette-VERSION-linux-x64.tar.gz, which runs where it is unpacked, vedette_VERSION_amd64.deb and the SBOM of both (CycloneDX 1.5, JSON).
// Both hold the Node that runs this script, the packages that the server needs at run time, as the lock file names them, and of native binaries only those of this machine's
// kind. Equal sources give equal bytes: files in order, owned by root, with the time of the last commit (or SOURCE_DATE_EPOCH).
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

const out = "dist/package";
const { version, description } = JSON.parse(readFileSync("package.json", "utf8"));
const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? execFileSync("git", ["log", "-1", "--format=%ct"], { encoding: "utf8" }).trim());
const name = `vedette-${version}-linux-x64`;
/** Files of packages that nothing reads at run time. */
const needless = /\.([cm]?ts|map|md|markdown|flow|html|cc|cpp|c|h|gyp|gypi|bat)$|^\/(test|tests|docs|examples?|benchmarks?|\.github)\//i;
/** Native binaries: of glibc on x64, and of uWebSockets.js the one that this Node loads. */
const foreign = new RegExp(`musl|uws_(?!linux_x64_${process.versions.modules}\\.node)`);

const sha256 = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

function run(program, args, options = {}) {
  return execFileSync(program, args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024, ...options });
}

/** Packages that the server needs, by their path. */
function packages() {
  const { packages: locked } = JSON.parse(readFileSync("package-lock.json", "utf8"));
  return Object.entries(locked).filter(([path, entry]) => path !== "" && !entry.dev && !entry.devOptional && existsSync(path));
}

/** Files under a folder, sorted. */
function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

/** What both packages hold: Node, the built server, its packages. */
function stage(root) {
  mkdirSync(root, { recursive: true });
  cpSync(process.execPath, join(root, "node"), { dereference: true });
  cpSync("package.json", join(root, "package.json"));
  cpSync("LICENSE", join(root, "LICENSE"));
  // Of joined files the maps too: stack traces are read by them.
  const isBuilt = (path) =>
    /^dist\/(main\.js|actors\/\w+\/worker\.js|joined\/.*)\.map$/.test(path) || !/\.map$|\.d\.ts$|tsbuildinfo/.test(path);
  for (const entry of readdirSync("dist")) {
    if (entry.startsWith(".") || ["package", "native-bench", "eval"].includes(entry) || !isBuilt(entry)) continue;
    cpSync(join("dist", entry), join(root, "dist", entry), { recursive: true, filter: isBuilt });
  }
  for (const [path] of packages()) {
    const isNeeded = (file) => {
      const inside = relative(path, file);
      if (inside.startsWith("node_modules")) return false;
      const isLicence = /licen[cs]e|notice|copying/i.test(inside);
      return statSync(file).isDirectory()
        ? !needless.test(`/${inside}/`)
        : isLicence || (!needless.test(`/${inside}`) && !foreign.test(inside));
    };
    cpSync(path, join(root, path), { recursive: true, filter: isNeeded });
  }
}

/** Components with version, licence and hash; Node and native binaries are files with their own. */
function sbom(root) {
  const modules = packages().map(([path, { version: locked, license, integrity = "" }]) => {
    const module = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const hash = integrity.startsWith("sha512-") ? Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex") : "";
    return {
      type: "library",
      name: module,
      version: locked,
      purl: `pkg:npm/${module.replace("@", "%40")}@${locked}`,
      ...(license && { licenses: [{ expression: license }] }),
      ...(hash !== "" && { hashes: [{ alg: "SHA-512", content: hash }] }),
    };
  });
  const natives = filesUnder(join(root, "node_modules"))
    .filter((path) => path.endsWith(".node"))
    .map((path) => ({ type: "file", name: relative(root, path), hashes: [{ alg: "SHA-256", content: sha256(path) }] }));
  const node = {
    type: "platform",
    name: "node",
    version: process.versions.node,
    hashes: [{ alg: "SHA-256", content: sha256(join(root, "node")) }],
  };
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: { type: "application", name: "vedette", version, licenses: [{ expression: "Apache-2.0" }] },
    },
    components: [node, ...modules, ...natives],
  };
}

/** Modes and times that do not depend on who built it. */
function settle(folder) {
  run("chmod", ["-R", "u=rwX,go=rX", folder]);
  for (const path of readdirSync(folder, { recursive: true })) utimesSync(join(folder, path), epoch, epoch);
  utimesSync(folder, epoch, epoch);
}

function makeTarball(root) {
  settle(root);
  const file = join(out, `${name}.tar.gz`);
  const order = ["--sort=name", `--mtime=@${epoch}`, "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"];
  run("sh", ["-c", 'tar "$@" | gzip -9n > "$0"', file, "-c", ...order, "-C", join(root, ".."), name]);
  return file;
}

/** Files of the Debian package beside /usr/lib/vedette. */
function stageDebian(root) {
  const place = (from, to, mode = "644") => {
    mkdirSync(join(root, to, ".."), { recursive: true });
    cpSync(from, join(root, to));
    run("chmod", [mode, join(root, to)]);
  };
  const write = (to, bytes) => {
    mkdirSync(join(root, to, ".."), { recursive: true });
    writeFileSync(join(root, to), bytes);
  };
  const command = (...words) => run(process.execPath, ["dist/main.js", ...words]);
  place("packaging/vedette.service", "lib/systemd/system/vedette.service");
  place("packaging/vedette.env", "etc/vedette/vedette.env");
  place("packaging/vedette.sh", "usr/bin/vedette", "755");
  place("LICENSE", "usr/share/doc/vedette/copyright");
  write("usr/share/man/man1/vedette.1.gz", run("gzip", ["-9n"], { input: Buffer.from(command("man")), encoding: "buffer" }));
  write("usr/share/bash-completion/completions/vedette", command("completion", "bash"));
  write("usr/share/zsh/vendor-completions/_vedette", command("completion", "zsh"));
}

function makeDebian(root, control) {
  const kib = Math.ceil(filesUnder(root).reduce((sum, path) => sum + statSync(path).size, 0) / 1024);
  mkdirSync(control, { recursive: true });
  for (const script of ["postinst", "prerm", "postrm"]) cpSync(join("packaging/debian", script), join(control, script));
  writeFileSync(join(control, "conffiles"), "/etc/vedette/vedette.env\n");
  const fields = {
    Package: "vedette",
    Version: version,
    Architecture: "amd64",
    Maintainer: "Vedette maintainers <maintainers@vedette.invalid>",
    "Installed-Size": kib,
    Depends: "libc6 (>= 2.28), libstdc++6, passwd",
    Section: "net",
    Priority: "optional",
    Description: `${description}\n Takes Prometheus remote-write, OTLP and JSON; Node is part of the package.`,
  };
  const lines = Object.entries(fields).map(([field, value]) => `${field}: ${value}`);
  writeFileSync(join(control, "control"), `${lines.join("\n")}\n`);
  settle(root);
  run("chmod", ["755", ...["postinst", "prerm", "postrm"].map((script) => join(control, script))]);
  const file = join(out, `vedette_${version}_amd64.deb`);
  run("dpkg-deb", ["--root-owner-group", "-Zgzip", "-z9", "--build", root, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
  });
  return file;
}

function main() {
  rmSync(out, { recursive: true, force: true });
  const tarRoot = join(out, "stage", name);
  stage(tarRoot);
  cpSync("packaging/vedette.sh", join(tarRoot, "vedette"));
  cpSync("packaging/vedette.service", join(tarRoot, "vedette.service"));
  cpSync("packaging/vedette.env", join(tarRoot, "vedette.env"));
  const bom = `${JSON.stringify(sbom(tarRoot), null, 2)}\n`;
  writeFileSync(join(tarRoot, "sbom.cdx.json"), bom);
  const debRoot = join(out, "stage", "deb");
  const library = join(debRoot, "usr/lib/vedette");
  cpSync(tarRoot, library, { recursive: true, filter: (path) => !/\/vedette(\.service|\.env)?$/.test(path.slice(tarRoot.length)) });
  stageDebian(debRoot);
  const files = [makeTarball(tarRoot), makeDebian(debRoot, join(debRoot, "DEBIAN"))];
  writeFileSync(join(out, `${name}.sbom.cdx.json`), bom);
  rmSync(join(out, "stage"), { recursive: true });
  for (const file of files) console.log(`${sha256(file)}  ${file}  ${(statSync(file).size / 1024 ** 2).toFixed(1)} MiB`);
  console.log(`Node ${process.versions.node}, ABI ${process.versions.modules}, ${packages().length} packages`);
}

main();
