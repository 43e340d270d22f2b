// How long baselines outlive the process: their pages come from the store when the engine begins to serve, and go there by and by when they have changed.
import { DETECTOR_STATE_PARTITIONS_ASKED_MAX, DETECTOR_STATE_STORE_MS } from "../../../../core/config/limits.ts";
import {
  DETECTOR_PAIRS,
  DETECTOR_STATES_HEADER_BYTES,
  encodeStatesFrame,
  FRAME_DETECTOR_STATES,
} from "../../../../core/protocol/coordinator-frame.ts";
import type { DetectorStates, DetectorStatesWanted } from "../../../../core/protocol/engine-control.ts";
import { type PairArena, STORED_PAGE_BYTES_MAX } from "../../../../domain/detection/pair/pair-arena.ts";
import type { Outbox } from "../../report/outbox.ts";

/** Pages that go together, so that a server at rest commits seldom: some 416 KiB. */
const PAGES_AT_ONCE = 8;

export interface PairStoreDependencies {
  readonly arena: PairArena;
  readonly outbox: Outbox;
  readonly ask: (wanted: DetectorStatesWanted) => void;
  /** Told of each pair that came from the store, with the number of its stream's hash. */
  readonly restored: (pair: number, hash: number) => void;
}

/** Pages of one engine. */
export class PairStore {
  readonly #dependencies: PairStoreDependencies;
  /** Partitions whose pages have not been asked for, and those whose are still to come. */
  readonly #unasked: number[];
  readonly #asked = new Set<number>();
  /** The frame of a page, on its way into the ring. */
  readonly #frame = new Uint8Array(DETECTOR_STATES_HEADER_BYTES + STORED_PAGE_BYTES_MAX);
  #next = 0;
  /** Pages that are due, with fractions. */
  #due = 0;
  #lastMs = 0;

  constructor(partitions: readonly number[], dependencies: PairStoreDependencies) {
    this.#unasked = [...partitions];
    this.#dependencies = dependencies;
  }

  /** Asks for what is stored, some partitions at a time; true once all is here. */
  load(): boolean {
    while (this.#asked.size < DETECTOR_STATE_PARTITIONS_ASKED_MAX) {
      const partition = this.#unasked.pop();
      if (partition === undefined) break;
      this.#asked.add(partition);
      this.#dependencies.ask({ type: "detector-states-wanted", detector: DETECTOR_PAIRS, partition, page: 0 });
    }
    return this.#asked.size === 0;
  }

  /** Takes stored pages and asks for the next. */
  take({ partition, pages, next }: DetectorStates): void {
    const { arena, ask, restored } = this.#dependencies;
    for (const { page, bytes } of pages) arena.restore({ partition, number: page, bytes }, restored);
    if (next !== null) {
      ask({ type: "detector-states-wanted", detector: DETECTOR_PAIRS, partition, page: next });
      return;
    }
    this.#asked.delete(partition);
    this.load();
  }

  /** Loads first; then stores what has changed of as many pages as are due, so that each comes once in DETECTOR_STATE_STORE_MS; to be called a few times a second. */
  onInterval(nowMs: number): void {
    const { arena } = this.#dependencies;
    const elapsed = this.#lastMs === 0 ? 0 : nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    if (!this.load()) return;
    this.#due = Math.min(arena.pages, this.#due + (elapsed * arena.pages) / DETECTOR_STATE_STORE_MS);
    if (this.#due < Math.min(PAGES_AT_ONCE, arena.pages)) return;
    for (; this.#due >= 1; this.#due--) this.#store();
  }

  /** Stores all that has changed, as far as the way to the coordinator takes it; true once that is all. To be called again and again. */
  storeAll(): boolean {
    const { arena, outbox } = this.#dependencies;
    if (this.#unasked.length + this.#asked.size > 0) return true;
    while (arena.dirtyPages > 0) {
      if (outbox.isOverLimit) return false;
      this.#store();
    }
    return true;
  }

  #store(): void {
    const { arena, outbox } = this.#dependencies;
    if (this.#next >= arena.pages) this.#next = 0;
    const page = arena.takePage(this.#next++);
    if (page === undefined) return;
    const at = { partition: page.partition, detector: DETECTOR_PAIRS, page: page.number };
    outbox.sendView(FRAME_DETECTOR_STATES, encodeStatesFrame(at, page.bytes, this.#frame));
  }
}
