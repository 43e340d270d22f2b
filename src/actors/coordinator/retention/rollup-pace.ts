// How much of the coordinator's time roll-ups take: what the blocks of a round need to be rolled up before the next one begins, spread over that time.
import { ROLLUP_ROUND_SHARE, ROLLUP_SHARE_MIN } from "../../../core/config/pace-limits.ts";

/** What folding a block of 64 KiB and storing its hours takes. */
const BLOCK_MS = 1.5;

/** The pace of one round. */
export class RollupPace {
  readonly #endMs: number;
  readonly #monotonicMs: () => number;
  #blocks: number;

  /** `intervalMs` is that from one round to the next, `blocks` how many are to be rolled up. */
  constructor({ intervalMs, blocks, monotonicMs }: { readonly intervalMs: number; readonly blocks: number; monotonicMs(): number }) {
    this.#monotonicMs = monotonicMs;
    this.#endMs = monotonicMs() + ROLLUP_ROUND_SHARE * intervalMs;
    this.#blocks = blocks;
  }

  /** A block is folded. */
  folded(): void {
    this.#blocks--;
  }

  /** Share of the thread's time from now on; all of it where the round is late. */
  get share(): number {
    const leftMs = this.#endMs - this.#monotonicMs();
    if (leftMs <= 0) return 1;
    return Math.min(1, Math.max(ROLLUP_SHARE_MIN, (BLOCK_MS * this.#blocks) / leftMs));
  }
}
