// Turns of one row: the contestants of a repeat one after another, then the next repeat, so that a slow minute of the machine hits all of them.
import { ratios, shown, shownRange } from "./measure.mjs";
import { TURN_MIB, touchMemory } from "./touched-memory.mjs";

/** Of two cores; beyond, the contestants of a repeat did not have the same machine. Kernel threads and the bench itself take less. */
const bystanderCoresMax = 0.2;
/** Stands in the conditions of a line that was measured beside too many bystanders. */
export const BUSY = ", **machine busy**";

/**
 * @typedef {object} Line                  one line of a row's table
 * @property {string} label
 * @property {number[]} values             one per repeat
 * @property {string} unit
 * @property {{against: string, values: number[]}} [ratio]
 * @property {number} [bar]                judged against the median ratio where there is one, else against the median value
 * @property {number} [goal]
 * @property {boolean} [lowerIsBetter]
 * @property {string} [note]
 *
 * @typedef {{lines: Line[], notMeasured: string[]}} RowResult
 *
 * @typedef {object} Row
 * @property {string} name
 * @property {string} what                 one sentence: what is measured and how
 * @property {boolean} quick               whether `make bench-quick` runs it
 * @property {(context: import("./context.mjs").Context) => Promise<RowResult>} run
 */

/**
 * Runs every contestant once a repeat, in turn; a turn that others disturbed is taken `attemptsMax` times at most. A turn is given its repeat and what the turns before have given.
 * @template T
 * @param {import("./context.mjs").Context} context
 * @param {Record<string, (repeat: number, results: Record<string, T[]>) => Promise<T>>} contestants
 * @returns {Promise<Record<string, T[]>>}
 */
export async function takeTurns(context, contestants, { attemptsMax = 1 } = {}) {
  const results = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let repeat = 1; repeat <= context.repeats; repeat++) {
    for (const [name, turn] of Object.entries(contestants)) {
      const startMs = performance.now();
      const result = await context.stolen.take(() => turn(repeat, results), { attemptsMax, log: context.log });
      results[name].push(result);
      const seconds = (performance.now() - startMs) / 1000;
      context.log(`${repeat}/${context.repeats} ${name}, ${seconds.toFixed(0)} s: ${brief(result)}`);
    }
  }
  return results;
}

/** What a turn gave, in a few words for the progress. */
export function brief(result) {
  if (typeof result === "number") return shown(result);
  const { samplesPerSecond, requestsPerSecond, p99Ms } = result.warm ?? {};
  if (samplesPerSecond === undefined) return JSON.stringify(result);
  if (requestsPerSecond === undefined) return `${shown(samplesPerSecond)} samples/s`;
  return `${shown(samplesPerSecond)} samples/s, ${shown(requestsPerSecond)} requests/s, p99 ${shown(p99Ms)} ms`;
}

/**
 * One turn of one server: an empty data folder, the bodies, a check that everything was taken, kill -9.
 * Throws when an answer was not 2xx or when the server's own count differs: the number would mean nothing.
 * @param {import("./context.mjs").Context} context
 * @param {string} kind
 * @param {Omit<import("./context.mjs").SendOptions, "server"> & {firstFile?: string}} sending `firstFile`: bodies that are sent in a closed loop before, left out
 * @param {import("./context.mjs").StartOptions} [starting]
 */
export async function serverTurn(context, kind, { firstFile, ...sending }, starting) {
  const { server, first } = await startTurn(context, kind, { firstFile, ...sending }, starting);
  try {
    const result = await context.send({ server, seconds: context.warmSeconds, ...sending });
    await checkTurn(server, result, first);
    return result;
  } finally {
    await server.kill();
  }
}

/** A server with an empty data folder that has had the bodies of `firstFile`. */
export async function startTurn(context, kind, { firstFile, path, headers, connections }, starting) {
  // While the server starts: both take seconds, and neither is measured.
  const touching = touchMemory(context.workDir, TURN_MIB);
  touching.catch(() => undefined);
  const server = await context.startServer(kind, starting);
  try {
    await touching;
    const first = firstFile === undefined ? undefined : await context.send({ server, file: firstFile, path, headers, connections });
    return { server, first };
  } catch (error) {
    await server.kill();
    throw error;
  }
}

/** Throws where a turn's numbers would mean nothing. */
export async function checkTurn(server, result, first) {
  const { kind } = server;
  if (result.firstRefusal !== "") throw new Error(`${kind} refused ${JSON.stringify(result.statuses)}: ${result.firstRefusal}`);
  const sent = result.samples + (first?.samples ?? 0);
  const accepted = await settledCount(server, sent);
  if (accepted !== sent && !Number.isNaN(accepted)) throw new Error(`${kind} counts ${accepted} samples, sent were ${sent}`);
  if (result.warm.requests === 0) throw new Error(`${kind}: the bodies ended before the cold part did`);
}

/** Answers that row 1 leaves out: until then a server compiles. */
export const SATURATION_COLD_REQUESTS = 2_000;

/** What saturates the server, as row 1 measures it: other rows load it with half of the rate. */
export function saturationTurn(context, file) {
  return serverTurn(context, "vedette", { file, connections: 5, coldRequests: SATURATION_COLD_REQUESTS });
}

/** The server's count; asked again for a while, as a count may be published a little after the answers. */
async function settledCount(server, expected) {
  let accepted = await server.accepted();
  for (let attempt = 0; attempt < 20 && accepted < expected; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    accepted = await server.accepted();
  }
  return accepted;
}

/** Names of the installed ones among `kinds`, and the install lines of the others. */
export function presentPeers(context, kinds) {
  const notMeasured = kinds.map((kind) => context.missing(kind)).filter((line) => line !== undefined);
  return { present: kinds.filter((kind) => context.missing(kind) === undefined), notMeasured };
}

/** The line of what is judged: one series of turns over another, repeat by repeat. */
export function ratioLine(label, numerators, denominators, { bar, goal, lowerIsBetter = false, note } = {}) {
  return { label, values: ratios(numerators, denominators), unit: "x", bar, goal, lowerIsBetter, note };
}

/** What a reader needs in order to trust the turns: how busy server, sender and bystanders were. */
export function conditions(/** @type {import("./context.mjs").SendResult[]} */ results) {
  const most = (key) => Math.max(...results.map((result) => result[key]));
  const warm = Math.min(...results.map((result) => result.warm.seconds));
  const server = results.map((result) => result.warm.serverCpuSeconds / result.warm.seconds);
  const cores = `server ${shownRange(server)} cores, sender up to ${shown(most("senderCores"))}, bystanders up to ${shown(most("bystanderCores"))}`;
  return `at least ${shown(warm)} s warm; ${cores}${most("bystanderCores") > bystanderCoresMax ? BUSY : ""}`;
}
