// Time that the hypervisor gives to other machines while ours has something to do ("steal"): a turn in which much of it went says more of the neighbours than of the
// server. So a turn waits for a quiet moment, and is taken again where the moment did not last; which of its attempts counts is decided by the stolen time, never by
// what was measured. All of that within a budget, because a machine may have hours without a quiet moment.
import { setTimeout as pause } from "node:timers/promises";
import { stolenTicks, ticksPerSecond } from "./measure.mjs";

/** Of one core. Beyond, a moment is not quiet, and a turn is disturbed unless it says otherwise. */
const stolenCoresUsual = 0.05;
/** The same for a p99: twenty milliseconds stolen in a second multiply it. */
export const stolenCoresOfLatencyMax = 0.01;
/** A longer turn is taken once: three attempts of two minutes would leave nothing for the others. */
const repeatedSecondsMax = 30;

/** What was stolen of the cores while something went on. */
async function whileWatched(/** @type {() => Promise<T>} */ work) {
  const [ticks, startMs] = [stolenTicks(), performance.now()];
  const result = await work();
  const seconds = (performance.now() - startMs) / 1000;
  return { result, seconds, stolenCores: stolenCoresOf(stolenTicks() - ticks, seconds) };
}

/** Ticks that were stolen in so many seconds, in cores. */
export function stolenCoresOf(/** @type {number} */ ticks, /** @type {number} */ seconds) {
  return ticks / ticksPerSecond / seconds;
}

/** @typedef {{turns: number, disturbed: number, repeated: number, waitedSeconds: number, stolenCoresMost: number}} Disturbance */

/** The turns of one run of the benches. */
export class StolenTime {
  #secondsLeft;
  #watch;
  #lookMs;
  /** @type {Disturbance} */
  #seen = nothing();

  /** `seconds`: what waiting and repeating may take in all; `lookMs`: how long a moment is looked at. */
  constructor(/** @type {number} */ seconds, { watch = whileWatched, lookMs = 400 } = {}) {
    this.#secondsLeft = seconds;
    this.#watch = watch;
    this.#lookMs = lookMs;
  }

  /** What turns met since the last call. */
  takeSeen() {
    const seen = this.#seen;
    this.#seen = nothing();
    return seen;
  }

  /**
   * Takes a turn in a quiet moment, again where it was disturbed, `attemptsMax` times at most. Resolves with the attempt of which least was stolen.
   * @template T
   * @param {() => Promise<T>} turn
   * @param {{attemptsMax: number, stolenCoresMax?: number, log: (text: string) => void}} options
   * @returns {Promise<T>}
   */
  async take(turn, { attemptsMax, stolenCoresMax = stolenCoresUsual, log }) {
    let best;
    for (let attempt = 1; ; attempt++) {
      await this.#quiet();
      const taken = await this.#watch(turn);
      if (best === undefined || taken.stolenCores < best.stolenCores) best = taken;
      const isLong = taken.seconds > Math.min(repeatedSecondsMax, this.#secondsLeft);
      if (best.stolenCores <= stolenCoresMax || attempt === attemptsMax || isLong) break;
      log(`others had ${taken.stolenCores.toFixed(2)} of our cores meanwhile: once more`);
      this.#secondsLeft -= taken.seconds;
      this.#seen.repeated++;
    }
    this.#seen.turns++;
    if (best.stolenCores > stolenCoresMax) this.#seen.disturbed++;
    this.#seen.stolenCoresMost = Math.max(this.#seen.stolenCoresMost, best.stolenCores);
    return best.result;
  }

  async #quiet() {
    while (this.#secondsLeft > 0) {
      const { stolenCores, seconds } = await this.#watch(() => pause(this.#lookMs));
      if (stolenCores <= stolenCoresUsual) return;
      this.#secondsLeft -= seconds;
      this.#seen.waitedSeconds += seconds;
    }
  }
}

function nothing() {
  return { turns: 0, disturbed: 0, repeated: 0, waitedSeconds: 0, stolenCoresMost: 0 };
}
