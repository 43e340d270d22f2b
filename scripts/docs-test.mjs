// Runs every block of commands (```sh) of the README and of docs/*.md, each document over a server and a data folder of its own: a command that fails, or a curl that is answered with an error, fails the document.
// `<!-- not run: reason -->` before a block leaves it out, and says so; `<!-- server: NAME=VALUE ... -->` anywhere in a document starts its server with such settings, `<!-- with: tour -->` sends it the README's tour first. The last line is "N passed, N failed".
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const root = join(import.meta.dirname, "..");
const BLOCK_SECONDS_MAX = 120;
const READY_MS_MAX = 30_000;
const OUTPUT_CHARACTERS = 2_000;

const only = process.argv.slice(2);
const documents = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
].filter((name) => only.length === 0 || only.includes(name));

/** The blocks of a document: their line, their text, and why they are not run. */
function blocksOf(text) {
  const lines = text.split("\n");
  const blocks = [];
  for (let at = 0; at < lines.length; at++) {
    if (!/^\s*```sh\b/.test(lines[at])) continue;
    const end = lines.findIndex((line, place) => place > at && /^\s*```\s*$/.test(line));
    const before = lines.slice(0, at).findLast((line) => line.trim() !== "") ?? "";
    blocks.push({ line: at + 1, text: lines.slice(at + 1, end).join("\n"), skipped: /<!-- not run: (.*?) -->/.exec(before)?.[1] });
    at = end;
  }
  return blocks;
}

/** The README's: it leaves one anomaly of checkout's latency_ms, and its alert. */
function tour() {
  return blocksOf(readFileSync(join(root, "README.md"), "utf8")).find(({ text }) => text.includes("/api/v1/stream")).text;
}

function settingsOf(text) {
  const given = /<!-- server: (.*?) -->/.exec(text)?.[1] ?? "";
  return Object.fromEntries(
    given
      .split(/\s+/)
      .filter(Boolean)
      .map((word) => word.split(/=(.*)/s).slice(0, 2)),
  );
}

async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => server.address().port);
  for (const server of servers) server.close();
  return ports;
}

/** Programs that stand before the system's: vedette of this tree, and a curl for which an answer of 400 and above is a failure. */
function makePrograms(folder) {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const program = (name, line) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program("vedette", `exec ${process.execPath} ${join(root, "dist/main.js")} "$@"`);
  const curl = spawnSync("sh", ["-c", "command -v curl"], { encoding: "utf8" }).stdout.trim();
  program("curl", `exec ${curl} --fail-with-body "$@"`);
  return bin;
}

async function runDocument(name) {
  const text = readFileSync(join(root, name), "utf8");
  const blocks = blocksOf(text);
  if (blocks.length === 0) return { passed: 0, failed: 0 };
  const folder = mkdtempSync(join(tmpdir(), "vedette-docs-"));
  const [port, otlpPort, alertsPort] = await freePorts(3);
  const work = join(folder, "work");
  mkdirSync(work);
  for (const path of ["package.json", "Makefile"]) copyFileSync(join(root, path), join(work, path));
  const places = (line) =>
    line
      .replaceAll(/\b8080\b/g, String(port))
      .replaceAll(/\b4318\b/g, String(otlpPort))
      .replaceAll(/\b9093\b/g, String(alertsPort))
      .replaceAll(/(?<![\w.])\/(var|etc)\//g, `${folder}/$1/`)
      .replaceAll("node dist/main.js", "vedette");
  const environment = {
    PATH: `${makePrograms(folder)}:${process.env.PATH}`,
    HOME: folder,
    PORT: String(port),
    OTLP_PORT: String(otlpPort),
    OTLP_GRPC_PORT: "0",
    ALERTS_PORT: String(alertsPort),
    DATA_DIR: join(work, "data"),
    LANG: "C.UTF-8",
  };
  for (const path of ["var/lib", "var/backups", "etc/vedette"]) mkdirSync(join(folder, path), { recursive: true });
  const settings = Object.fromEntries(Object.entries(settingsOf(text)).map(([key, value]) => [key, places(value)]));
  const server = spawn(process.execPath, ["--no-memory-reducer", join(root, "dist/main.js")], {
    env: { ...environment, ...settings },
    stdio: "ignore",
    cwd: work,
  });
  const sum = { passed: 0, failed: 0 };
  try {
    await ready(port);
    if (text.includes("<!-- with: tour -->")) await run(places(tour()), { ...environment, ...settings }, work);
    const told = blocks.filter(({ skipped }) => skipped !== undefined);
    for (const { line, skipped } of told) console.log(`not run  ${name}:${line}  ${skipped}`);
    const commands = blocks.filter(({ skipped }) => skipped === undefined);
    // One shell for all: what an earlier block sets, a later one uses.
    const script = commands.map((block, place) => `printf '\\n@@%s\\n' ${place}\n${places(block.text)}`).join("\n");
    const { status, output } = await run(script, { ...environment, ...settings }, work);
    const reached = status === 0 ? commands.length : Number([...output.matchAll(/^@@(\d+)$/gm)].at(-1)?.[1] ?? 0);
    for (const [place, { line }] of commands.entries()) {
      const isPassed = place < reached;
      sum[isPassed ? "passed" : "failed"]++;
      const why =
        place === reached
          ? `  ended with ${status}\n${output.slice(output.lastIndexOf("\n@@") + 1).slice(-OUTPUT_CHARACTERS)}`
          : "  not reached";
      console.log(`${isPassed ? "ok      " : "FAILED  "} ${name}:${line}${isPassed ? "" : why}`);
    }
  } finally {
    server.kill("SIGKILL");
    await once(server, "close").catch(() => undefined);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  return sum;
}

async function ready(port) {
  for (const deadline = performance.now() + READY_MS_MAX; performance.now() < deadline; await sleep(50)) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return;
  }
  throw new Error("the server did not become ready");
}

async function run(text, env, cwd) {
  const child = spawn("bash", ["-e", "-o", "pipefail", "-c", text], { env, cwd, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (output += bytes));
  const late = setTimeout(() => process.kill(-child.pid, "SIGKILL"), BLOCK_SECONDS_MAX * 1_000);
  const [code, signal] = await once(child, "close");
  clearTimeout(late);
  return { status: code ?? signal, output };
}

const total = { passed: 0, failed: 0 };
for (const name of documents) {
  const { passed, failed } = await runDocument(name);
  total.passed += passed;
  total.failed += failed;
}
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
