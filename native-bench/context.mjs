// What a row of the table is run with: bodies, servers, the sender, and the cores they are pinned to.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { binaryOf, missingTool } from "./binaries.mjs";
import { makeBodies } from "./bodies/body-files.mjs";
import { cpuTicks, procCpuSeconds, ticksPerSecond } from "./measure.mjs";
import { SERVERS } from "./servers/server-kinds.mjs";
import { converse, runPinned } from "./servers/server-process.mjs";
import { StolenTime } from "./stolen-time.mjs";

const root = join(import.meta.dirname, "..");

/**
 * @typedef {object} SendOptions
 * @property {Server} server              port, pid, path and headers come from it unless given here
 * @property {string} file                bodies, see bodies/body-files.mjs
 * @property {string} [path]
 * @property {string[]} [headers]         "Name: value"
 * @property {number} [connections]       keep-alive connections; bodies of one shard always take the same one, in file order (default 5)
 * @property {number} [coldRequests]      answers left out of everything under `warm` (default 0)
 * @property {number} [seconds]           ends this long after the last cold answer (default: the end of the file)
 * @property {number} [maxRequests]
 * @property {number} [requestsPerSecond] open loop: latency counts from the scheduled time; absent: closed loop
 * @property {{requests: number, perSecond: number}} [early]  of an open loop: the first requests and their own rate
 * @property {number} [wakeMs]            of an open loop: so long before a request is due, and while an answer is awaited, the sender does not sleep; it keeps its core
 * @property {boolean} [loop]             begins the file again at its end; repeated samples are duplicates, so only for servers that discard
 * @property {string} [timesFile]         one line a request: index, scheduled and answered in Unix milliseconds, status
 * @property {number | string} [core]     default: pin.sender
 * @property {number} [nice]              of the sender's scheduler group, for one that must not hold up another on its core (default: as the server's)
 *
 * @typedef {object} SendResult
 * @property {number} requests
 * @property {number} samples             of 2xx answers, cold ones included
 * @property {number} seconds
 * @property {Phase} warm
 * @property {Phase} cold
 * @property {Record<string, number>} statuses
 * @property {string} firstRefusal        the first answer that was not 2xx, "" when there was none
 * @property {number} senderCpuSeconds
 * @property {number} senderCores         CPU of the sender per second: near 1 means that the sender was the limit
 * @property {number} bystanderCores      cores that neither server nor sender used
 *
 * @typedef {{requests: number, samples: number, seconds: number, samplesPerSecond: number, requestsPerSecond: number, serverCpuSeconds: number,
 *   p50Ms: number, p99Ms: number, maxMs: number}} Phase
 *
 * @typedef {object} Server               one running server process
 * @property {string} kind
 * @property {number} pid
 * @property {number} port
 * @property {string} path                of remote-write
 * @property {string[]} headers           of remote-write
 * @property {string} dataDir
 * @property {string} logPath             its stdout and stderr; deleted when it ends
 * @property {() => Promise<void>} stop   orderly, SIGTERM; deletes dataDir unless keepData
 * @property {() => Promise<void>} kill   kill -9; deletes dataDir unless keepData
 * @property {() => number} cpuSeconds    user and system, all threads
 * @property {() => number} rssBytes
 * @property {() => Promise<import("./servers/server-process.mjs").Metrics>} metrics
 * @property {() => Promise<number>} accepted  new samples taken, by the server's own count
 *
 * @typedef {object} Slices               a sender whose warm part is sent in slices
 * @property {Promise<void>} ready         the cold part is over
 * @property {(seconds: number) => Promise<void>} take
 * @property {(kept: number[]) => Promise<SendResult>} end  its warm part made of the slices with these numbers, from 0 on
 * @property {() => void} kill
 *
 * @typedef {object} StartOptions
 * @property {number | string} [core]     as taskset -c takes it; default: pin.server
 * @property {Record<string, string>} [env]
 * @property {string} [dataDir]           default: a new empty folder
 * @property {boolean} [keepData]         keeps dataDir when the server ends
 *
 * @typedef {object} Context
 * @property {number} repeats
 * @property {boolean} quick
 * @property {number} warmSeconds         how long a turn measures after its cold part
 * @property {{rounds: number, seconds: number}} warm  the same for rounds
 * @property {(text: string) => void} log
 * @property {string} workDir             for anything temporary
 * @property {StolenTime} stolen          has turns taken in quiet moments
 * @property {{get: (shape: string, options?: object) => Promise<string>, takeSeconds: () => number}} bodies
 * @property {(kind: string, options?: StartOptions) => Promise<Server>} startServer
 * @property {(kind: string) => string | undefined} missing  one line on how to install what `kind` lacks: a server kind, "send" or "limit"
 * @property {(options: SendOptions) => Promise<SendResult>} send
 * @property {(options: SendOptions) => Slices} sendInSlices
 * @property {(command: string, args: string[], core?: number | string, nice?: number) => Promise<string>} runPinned  runs to the end, resolves with stdout
 * @property {{server: number, sender: number}} pin
 * @property {Set<string>} commands       command lines run so far, for the results; paths, ports and pids as placeholders
 */

/** What a run may wait for quiet moments and take turns again, in all: what 45 minutes leave in a slow hour. */
const STOLEN_SECONDS_MAX = 150;

/**
 * @param {{repeats: number, quick: boolean, workDir: string, log: (text: string) => void}} options
 * @returns {Context}
 */
export function createContext({ repeats, quick, workDir, log }) {
  mkdirSync(workDir, { recursive: true });
  const pin = { server: 0, sender: 1 };
  const commands = new Set();
  const recording =
    (run) =>
    (command, args, core = pin.server, nice = undefined) => {
      commands.add(asPlaceholders([command, ...args].map(quoted).join(" "), workDir));
      return run(command, args, core, nice);
    };
  const recordingPinned = recording(runPinned);
  return {
    repeats,
    quick,
    warmSeconds: quick ? 2 : 4,
    warm: { rounds: quick ? 1 : 2, seconds: 2 },
    log,
    workDir,
    stolen: new StolenTime(quick ? 0 : STOLEN_SECONDS_MAX),
    pin,
    commands,
    bodies: makeBodies(join(workDir, "bodies"), log),
    missing: (kind) => SERVERS[kind]?.missing() ?? missingTool(kind),
    startServer: async (kind, options = {}) => {
      const server = await SERVERS[kind].start({ core: pin.server, ...options, workDir });
      commands.add(asPlaceholders(server.commandLine, workDir));
      return server;
    },
    send: ({ core = pin.sender, ...options }) => send(recordingPinned, core, options),
    sendInSlices: ({ core = pin.sender, ...options }) => sendInSlices(recording(converse), core, options),
    runPinned: recordingPinned,
  };
}

function quoted(word) {
  return word.includes(" ") ? `'${word}'` : word;
}

/** A command line, or what a program says, without what differs from turn to turn and from machine to machine, and without tokens. */
export function asPlaceholders(line, workDir) {
  return line
    .replaceAll(workDir, "WORK")
    .replaceAll(process.execPath, "node")
    .replaceAll(`${root}/`, "")
    .replaceAll(/(?<=Bearer )[\w.-]+/g, "TOKEN")
    .replace(/(?<=--pid |--port |PORT=|127\.0\.0\.1:)\d+/g, "N")
    .replaceAll(/(?<=token=)\w+/g, "TOKEN")
    .replace(/(?<=WORK\/[a-z-]+-)\w{6}(?![\w.])/g, "N");
}

/** @returns {Promise<SendResult>} */
async function send(run, core, { server, nice, ...options }) {
  const cpuBefore = server.cpuSeconds();
  const ticksBefore = cpuTicks();
  const output = run(binaryOf("send"), senderArguments(server, options), core, nice);
  const result = JSON.parse(await output.catch((error) => fail(error, server)));
  const busySeconds = (cpuTicks() - ticksBefore) / ticksPerSecond;
  const own = server.cpuSeconds() - cpuBefore + result.senderCpuSeconds;
  return {
    ...result,
    senderCores: result.senderCpuSeconds / result.seconds,
    bystanderCores: Math.max(0, (busySeconds - own) / result.seconds),
  };
}

/** At the beginning of a slice, left out: the server's caches are cold, and what came due while it stood still is done. */
const sliceColdSeconds = 0.3;

/** @returns {Slices} */
function sendInSlices(open, core, { server, nice, ...options }) {
  const sender = open(binaryOf("send"), [...senderArguments(server, options), "--slices"], core, nice);
  const slices = [];
  const line = () => sender.line().catch((error) => fail(error, server));
  return {
    ready: line().then(() => undefined),
    take: async (seconds) => {
      sender.say(`slice ${sliceColdSeconds}`);
      await line();
      const before = usage(server, sender);
      sender.say(`slice ${seconds}`);
      const { seconds: took } = JSON.parse(await line());
      const after = usage(server, sender);
      slices.push({ took, sender: after.sender - before.sender, all: after.all - before.all, server: after.server - before.server });
    },
    end: async (kept) => {
      sender.say(`end ${kept.map((slice) => 2 * slice + 1).join(" ")}`);
      const result = JSON.parse(await line());
      const sum = (key) => kept.reduce((total, slice) => total + slices[slice][key], 0);
      const bystanders = sum("all") - sum("server") - sum("sender");
      return { ...result, senderCores: sum("sender") / sum("took"), bystanderCores: Math.max(0, bystanders / sum("took")) };
    },
    kill: sender.kill,
  };
}

/** CPU seconds of all, of the server and of the sender. */
function usage(server, sender) {
  return { all: cpuTicks() / ticksPerSecond, server: server.cpuSeconds(), sender: procCpuSeconds(sender.pid) };
}

/** What the sender says does not tell whether the server is still there. */
function fail(error, server) {
  throw new Error(`${error.message}; ${server.lastWords()}`, { cause: error });
}

function senderArguments(server, options) {
  const args = ["--port", server.port, "--pid", server.pid, "--path", options.path ?? server.path, "--file", options.file];
  for (const header of options.headers ?? server.headers) args.push("--header", header);
  const optional = {
    "--connections": options.connections,
    "--cold": options.coldRequests,
    "--seconds": options.seconds,
    "--max-requests": options.maxRequests,
    "--rate": options.requestsPerSecond,
    "--early": options.early?.requests,
    "--early-rate": options.early?.perSecond,
    "--wake": options.wakeMs === undefined ? undefined : options.wakeMs / 1000,
    "--times": options.timesFile,
  };
  for (const [name, value] of Object.entries(optional)) if (value !== undefined) args.push(name, value);
  if (options.loop) args.push("--loop");
  return args.map(String);
}
