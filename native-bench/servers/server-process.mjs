// One server as a child process: pinned, waited for until it is ready, observed, ended.
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { procCpuSeconds, procRssBytes } from "../measure.mjs";

const readyMsMax = 120_000;
const stopMsMax = 30_000;
/** A program that hangs ends. */
const programOptions = { timeout: 300_000, killSignal: "SIGKILL" };
/** Of a scheduler autogroup, as nice: bystanders on a shared machine then take little from the measured pair. */
const autogroupNice = -15;

export const REMOTE_WRITE_HEADERS = [
  "Content-Type: application/x-protobuf",
  "Content-Encoding: snappy",
  "X-Prometheus-Remote-Write-Version: 0.1.0",
];

/** Samples of a Prometheus text page. */
export class Metrics {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  /** Sum over the samples of that name whose label part contains all of `labels`, such as `status="accepted"`; NaN when there is none. */
  sum(/** @type {string} */ name, /** @type {string[]} */ ...labels) {
    const values = [];
    for (const line of this.text.split("\n")) {
      const [, found, labelText = "", value] = /^(\w+)(\{.*\})? (\S+)/.exec(line) ?? [];
      if (found === name && labels.every((label) => labelText.includes(label))) values.push(Number(value));
    }
    return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0);
  }
}

/** Children alive; ended with this process, whatever ends it. */
const children = new Set();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

/** A free port of 127.0.0.1. */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Gives a process that leads its own session more of the processor; where that is not allowed nothing happens. */
function prioritise(/** @type {number} */ pid, /** @type {number} */ nice) {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // No autogroups or no right to change them: the measurement only gets noisier.
  }
}

/** Starts `command` on `core` in a session of its own. `detached` makes the session, and with it the autogroup. */
function spawnPinned(command, args, core, { nice = autogroupNice, ...options }) {
  const child = spawn("taskset", ["-c", String(core), command, ...args], { detached: true, ...options });
  children.add(child);
  child.on("spawn", () => prioritise(child.pid, nice));
  child.on("exit", () => children.delete(child));
  return child;
}

/** Runs a program to its end; resolves with its stdout, rejects with its stderr. `nice` of its scheduler group, as low as a server's unless it is given. */
export function runPinned(command, args, core, nice) {
  return new Promise((resolve, reject) => {
    const child = spawnPinned(command, args, core, { ...programOptions, nice, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let errors = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      errors += text;
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ended with ${code ?? signal}: ${errors.trim()}`));
    });
  });
}

/** Starts a program that is spoken with in lines. `line()` resolves with its next one, and rejects with its stderr where it ends before. */
export function converse(command, args, core, nice) {
  const child = spawnPinned(command, args, core, { ...programOptions, nice, stdio: ["pipe", "pipe", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    errors += text;
  });
  const ended = new Promise((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.on("error", () => undefined); // what became of the program is told by its end
  return {
    pid: child.pid,
    say: (/** @type {string} */ text) => child.stdin.write(`${text}\n`),
    line: async () => {
      const { value, done } = await lines.next();
      if (done) throw new Error(`${command} ended with ${await ended}: ${errors.trim()}`);
      return value;
    },
    kill: () => child.kill("SIGKILL"),
  };
}

/**
 * Starts a server. `plan(port, dataDir)` returns {command, args, env}; `ready` is the path that answers 2xx once writes are taken;
 * `countAccepted(metrics)` the new samples taken.
 */
export async function startProcess(
  { kind, plan, ready, path, headers, countAccepted },
  { core, env = {}, dataDir, keepData = false, workDir },
) {
  const port = await freePort();
  const folder = dataDir ?? makeFolder(workDir, kind);
  const logPath = join(workDir, `${kind}-${port}.log`);
  const { command, args, env: ownEnv = {} } = plan(port, folder);
  const log = openSync(logPath, "w");
  const { PATH, HOME } = process.env;
  const child = spawnPinned(command, args, core, { stdio: ["ignore", log, log], env: { PATH, HOME, ...ownEnv, ...env } });
  closeSync(log);
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const lastLines = () => readFileSync(logPath, "utf8").trim().split("\n").slice(-5).join("\n");
  await untilReady(`http://127.0.0.1:${port}${ready}`, child, () => `${kind} did not become ready\n${lastLines()}`);
  const metrics = async () => new Metrics(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  const end = async (signal) => {
    child.kill(signal);
    const timer = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
    await ended;
    clearTimeout(timer);
    rmSync(logPath, { force: true });
    if (!keepData) rmSync(folder, { recursive: true, force: true });
  };
  return {
    kind,
    commandLine: [...Object.entries({ ...ownEnv, ...env }).map(([name, value]) => `${name}=${value}`), command, ...args].join(" "),
    pid: child.pid,
    port,
    path,
    headers,
    dataDir: folder,
    logPath,
    lastWords: () => `${child.exitCode ?? child.signalCode ?? "no"} end of ${kind}; its last lines: ${lastLines()}`,
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    cpuSeconds: () => procCpuSeconds(child.pid),
    rssBytes: () => procRssBytes(child.pid),
    metrics,
    accepted: async () => countAccepted(await metrics()),
  };
}

function makeFolder(workDir, kind) {
  mkdirSync(workDir, { recursive: true });
  return mkdtempSync(join(workDir, `${kind}-`));
}

async function untilReady(url, child, explain) {
  const deadline = performance.now() + readyMsMax;
  let fault;
  child.on("error", (error) => {
    fault = error;
  });
  while (performance.now() < deadline && child.exitCode === null && fault === undefined) {
    try {
      const answer = await fetch(url, { headers: { connection: "close" } });
      await answer.arrayBuffer();
      if (answer.ok) return;
    } catch {
      // Nobody listens yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  child.kill("SIGKILL");
  throw new Error(fault?.message ?? explain());
}
