// Makes the pages large in which streams lie, once they are in use: whoever takes a stream's first value does not wait until 2 MiB are cleared (adapters/platform/huge-pages.ts).
// Records and rings fill slot by slot, so a place in each follows what is filled, a page at a time.
import { STREAM_RECORDS, STREAM_RINGS } from "../../core/layout/memory-map.ts";
import { STREAM_RECORD_BYTES, STREAM_RING_BYTES } from "../../core/layout/stream-record.ts";
import { HOUR_MS } from "../../core/time/durations.ts";
import { LARGE_PAGE_BYTES, type PageCollapse } from "../platform/huge-pages.ts";
import type { EngineMemory } from "./engine-memory.ts";

/** Holds one whole large page and no second one, wherever the memory begins. */
const SPAN_BYTES = 2 * LARGE_PAGE_BYTES - 4096;
/** Pages that could not be made large, mostly since nothing of them is in use yet, are tried again after so long, then after twice as long each time: a system without room for them is not searched all the time. */
export const AGAIN_MS = 10_000;
const AGAIN_MS_MAX = HOUR_MS;

export interface StreamsInMemory {
  readonly memory: Pick<EngineMemory, "bytes">;
  /** Streams that it holds: so many slots at least are filled. */
  readonly streams: () => number;
}

/** Records, or rings, of one engine. */
class Area {
  readonly #bytes: Uint8Array;
  readonly #filled: () => number;
  #at = 0;
  /** The first page of this pass that stayed small. */
  #small = Number.POSITIVE_INFINITY;
  #againMs = 0;
  #waitMs = AGAIN_MS;

  constructor(bytes: Uint8Array, filled: () => number) {
    this.#bytes = bytes;
    this.#filled = filled;
  }

  /** The next page to be made large; undefined where none is due. */
  next(nowMs: number): Uint8Array | undefined {
    const end = this.#filled();
    if (this.#at + SPAN_BYTES > end && this.#small < this.#at && nowMs >= this.#againMs) {
      this.#at = this.#small;
      this.#small = Number.POSITIVE_INFINITY;
      this.#waitMs = Math.min(2 * this.#waitMs, AGAIN_MS_MAX);
    }
    return this.#at + SPAN_BYTES <= end ? this.#bytes.subarray(this.#at, this.#at + SPAN_BYTES) : undefined;
  }

  /** How the page ended that `next` has given. */
  settle(isLarge: boolean, nowMs: number): void {
    if (!isLarge) {
      this.#small = Math.min(this.#small, this.#at);
      this.#againMs = nowMs + this.#waitMs;
    }
    this.#at += LARGE_PAGE_BYTES;
  }
}

/** The pages of all engines' streams. */
export class LargePages {
  readonly #areas: readonly Area[];
  readonly #collapse: PageCollapse;
  readonly #monotonicMs: () => number;

  constructor(engines: readonly StreamsInMemory[], collapse: PageCollapse, monotonicMs: () => number) {
    this.#areas = engines.flatMap(({ memory: { bytes }, streams }) => [
      new Area(bytes.subarray(STREAM_RECORDS, STREAM_RINGS), () => streams() * STREAM_RECORD_BYTES),
      new Area(bytes.subarray(STREAM_RINGS), () => streams() * STREAM_RING_BYTES),
    ]);
    this.#collapse = collapse;
    this.#monotonicMs = monotonicMs;
  }

  /** Makes one page large where one is due; resolves with the milliseconds that it took, 0 where none was. */
  async step(): Promise<number> {
    const startMs = this.#monotonicMs();
    for (const area of this.#areas) {
      const page = area.next(startMs);
      if (page === undefined) continue;
      const isLarge = await this.#collapse(page);
      const endMs = this.#monotonicMs();
      area.settle(isLarge, endMs);
      return endMs - startMs;
    }
    return 0;
  }
}
