// How much of the coordinator's time roll-ups take: what the blocks of a round need to be rolled up before the next one begins, spread over that time.

import { ROLLUP_ROUND_SHARE, ROLLUP_SHARE_MAX, ROLLUP_SHARE_MIN } from "../../../core/config/pace-limits.ts";
import { pauseMsAfter } from "../../../core/fairness/paced-work.ts";

/** Estimate of the time for folding a block of 64 KiB and storing its hours, until so many blocks have been measured; on a core that others use too it takes longer. */
const BLOCK_MS = 1;
const BLOCKS_TELLING = 20;

/** The pace of one round. */
export class RollupPace {
  readonly #endMs: number;
  readonly #monotonicMs: () => number;
  #left: number;
  #blocks = BLOCKS_TELLING;
  #workMs = BLOCKS_TELLING * BLOCK_MS;

  /** `intervalMs` is that from one round to the next, `blocks` how many are to be rolled up. */
  constructor({ intervalMs, blocks, monotonicMs }: { readonly intervalMs: number; readonly blocks: number; monotonicMs(): number }) {
    this.#monotonicMs = monotonicMs;
    this.#endMs = monotonicMs() + ROLLUP_ROUND_SHARE * intervalMs;
    this.#left = blocks;
  }

  /** A block is folded. */
  folded(): void {
    this.#left--;
    this.#blocks++;
  }

  /** Pause in which others have the thread, now that roll-ups have had it for `workMs`. */
  pauseAfterMs(workMs: number): number {
    this.#workMs += workMs;
    return pauseMsAfter(workMs, this.share);
  }

  /** Share of the thread's time from now on. */
  get share(): number {
    const leftMs = this.#endMs - this.#monotonicMs();
    const neededMs = (this.#workMs / this.#blocks) * this.#left;
    return leftMs <= 0 ? ROLLUP_SHARE_MAX : Math.min(ROLLUP_SHARE_MAX, Math.max(ROLLUP_SHARE_MIN, neededMs / leftMs));
  }
}
