// Rounds of one row: the servers of a repeat are all there, and take the machine by turns of a few seconds. Meanwhile the others stand still (SIGSTOP), so that none of
// them works beside another. What the machine is worth changes from one half minute to the next by more than what is measured; contestants whose times lie two
// seconds apart have the same machine.
import { setTimeout as pause } from "node:timers/promises";
import { binaryOf } from "./binaries.mjs";
import { SLICE_MIB, touchMemory } from "./touched-memory.mjs";
import { brief, checkTurn, startTurn } from "./turns.mjs";

/** Rounds of a repeat that may be taken again unless a plan says otherwise: their bodies are gone. */
const spareRoundsUsual = 1;

/**
 * @typedef {object} Session               a contestant of one repeat
 * @property {() => Promise<void>} [begin]  what comes before the first slice, once all contestants are there
 * @property {(seconds: number) => Promise<void>} take   one slice
 * @property {(kept: number[]) => Promise<object>} end  its result over the slices with these numbers, from 0 on
 * @property {() => Promise<void>} kill
 */

/**
 * Has every contestant take `rounds` slices of `seconds` a repeat, in turn; a round that others disturbed is taken again.
 * @param {import("./context.mjs").Context} context
 * @param {Record<string, () => Promise<Session>>} contestants
 * @param {{rounds: number, seconds: number, restMs?: number, spareRounds?: number, stolenCoresMax?: number}} plan  `restMs`: left to all contestants once they are
 *   there, for what servers still do with their first file; `stolenCoresMax`: of one core, beyond which a round is disturbed
 * @returns {Promise<Record<string, object[]>>}
 */
export async function takeRounds(context, contestants, plan) {
  const results = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let repeat = 1; repeat <= context.repeats; repeat++) {
    const startMs = performance.now();
    const ended = await takeRepeat(context, contestants, plan);
    for (const [name, result] of Object.entries(ended)) {
      results[name].push(result);
      context.log(`${repeat}/${context.repeats} ${name}: ${brief(result)}`);
    }
    context.log(`${repeat}/${context.repeats} took ${((performance.now() - startMs) / 1000).toFixed(0)} s`);
  }
  return results;
}

async function takeRepeat(context, contestants, { rounds, seconds, restMs = 0, spareRounds = spareRoundsUsual, stolenCoresMax }) {
  const sessions = new Map();
  try {
    for (const [name, open] of Object.entries(contestants)) sessions.set(name, await open());
    await pause(restMs);
    for (const session of sessions.values()) await session.begin?.();
    const kept = [];
    let taken = 0;
    for (let round = 0; round < rounds; round++) {
      const attemptsMax = taken - round < spareRounds ? 2 : 1;
      const turn = async () => {
        for (const session of sessions.values()) await session.take(seconds);
        return taken++;
      };
      kept.push(await context.stolen.take(turn, { attemptsMax, stolenCoresMax, log: context.log }));
    }
    const results = {};
    for (const [name, session] of sessions) results[name] = await session.end(kept);
    return results;
  } finally {
    for (const session of sessions.values()) await session.kill();
  }
}

/**
 * A server that is sent bodies in slices, and checked like a turn of its own.
 * @param {import("./context.mjs").Context} context
 * @param {string} kind
 * @param {Omit<import("./context.mjs").SendOptions, "server"> & {firstFile?: string}} sending
 * @param {import("./context.mjs").StartOptions} [starting]
 * @returns {Promise<Session>}
 */
export async function serverSession(context, kind, { firstFile, ...sending }, starting) {
  const { server, first } = await startTurn(context, kind, { firstFile, ...sending }, starting);
  let sender;
  const halt = () => process.kill(server.pid, "SIGSTOP");
  const goOn = () => process.kill(server.pid, "SIGCONT");
  return {
    begin: async () => {
      sender = context.sendInSlices({ server, ...sending });
      await sender.ready;
      halt();
    },
    take: async (seconds) => {
      await touchMemory(context.workDir, SLICE_MIB);
      goOn();
      await sender.take(seconds);
      halt();
    },
    end: async (kept) => {
      goOn();
      const result = await sender.end(kept);
      await checkTurn(server, result, first);
      return result;
    },
    kill: async () => {
      sender?.kill();
      await server.kill();
    },
  };
}

/** The native limit over the bodies of a file, in slices of half the time: it has nothing to warm up. */
export async function limitSession(context, file, coldRequests) {
  const rates = [];
  return {
    take: async (seconds) => {
      const output = await context.runPinned(binaryOf("limit"), [file, String(coldRequests), String(seconds / 2)]);
      rates.push(JSON.parse(output).samplesPerSecond);
    },
    end: async (kept) => ({ warm: { samplesPerSecond: kept.reduce((sum, slice) => sum + rates[slice], 0) / kept.length } }),
    kill: async () => undefined,
  };
}
