/**
 * Gives memory back while nothing is asked of the process. Heaps are not collected as a whole below 128 MB ([v8-policy.ts](v8-policy.ts)), so that without this a server keeps
 * what its start has left: modules as they were read, and young generations as large as the busiest second wanted them.
 *
 * Each thread looks every few seconds what the whole process uses of a core. Where that was next to nothing twice, it collects its own heap, and again with the next quiet looks while
 * the heap keeps room that nothing is in: V8 makes a young generation smaller only where it sees that little is allocated. It does so again when the heap has grown since, ten minutes
 * later at the earliest: a thread stands for 40 to 100 ms. A process that has work is not held up.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MIB } from "../../core/config/byte-units.ts";
import { every, task } from "../../core/faults/guard.ts";
import { systemClock } from "./clock.ts";
import { loadKoffi } from "./native-functions.ts";

const CHECK_MS = 3_000;
/** Share of one core, by all threads, below which a look is quiet. An idle server uses 1 to 3 %; the collection of one thread, up to 5, is not to keep others waiting. */
const QUIET_SHARE = 0.1;
/** Looks that were quiet, one after another. */
const QUIET_CHECKS = 2;
/** More than an idle thread's young generation. */
const GROWN_BYTES = 8 * MIB;
const APART_MS = 600_000;
/** That a heap may keep, and how often it is collected in a row until it has no more. */
const SPARE_BYTES = 4 * MIB;
const IN_A_ROW_MAX = 5;

export interface IdleCollectionOptions {
  readonly monotonicMs: () => number;
  /** CPU time of all threads of the process, since it began. */
  readonly cpuMs: () => number;
  /** Size of the thread's heap, garbage included. */
  readonly heapBytes: () => number;
  /** Part of it that is in use. */
  readonly usedBytes: () => number;
  readonly collect: () => void;
}

/** Decides when one thread collects its heap. */
export class IdleCollection {
  readonly #options: IdleCollectionOptions;
  #checkedMs: number;
  #cpuMs: number;
  #quietChecks = 0;
  #inARow = 0;
  #collectedBytes = 0;
  #notBeforeMs = 0;

  constructor(options: IdleCollectionOptions) {
    this.#options = options;
    this.#checkedMs = options.monotonicMs();
    this.#cpuMs = options.cpuMs();
  }

  /** To be called now and then, as often as the caller likes. */
  check(): void {
    const { monotonicMs, cpuMs, heapBytes, usedBytes, collect } = this.#options;
    const nowMs = monotonicMs();
    const elapsedMs = nowMs - this.#checkedMs;
    if (elapsedMs < CHECK_MS) return;
    const usedMs = cpuMs() - this.#cpuMs;
    this.#checkedMs = nowMs;
    this.#cpuMs += usedMs;
    this.#quietChecks = usedMs < elapsedMs * QUIET_SHARE ? this.#quietChecks + 1 : 0;
    const isBegun = this.#inARow > 0;
    if (isBegun ? this.#quietChecks === 0 : this.#quietChecks < QUIET_CHECKS || nowMs < this.#notBeforeMs) return;
    if (!isBegun && heapBytes() < this.#collectedBytes + GROWN_BYTES) return;
    collect();
    const hasSpare = heapBytes() - usedBytes() > SPARE_BYTES;
    this.#inARow = hasSpare && this.#inARow + 1 < IN_A_ROW_MAX ? this.#inARow + 1 : 0;
    this.#notBeforeMs = nowMs + APART_MS;
    this.#collectedBytes = heapBytes();
  }
}

/** The calling thread's; `returnFree` where it also gives back what the C library holds free, of all threads: by one of them is enough. */
export function idleCollection({ returnFree = false } = {}): IdleCollection {
  return new IdleCollection({
    monotonicMs: systemClock.monotonicMs,
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    heapBytes: () => getHeapStatistics().total_heap_size,
    usedBytes: () => getHeapStatistics().used_heap_size,
    collect: returnFree ? collectNow : collectHeap,
  });
}

/** For a thread that has an event loop: looks from now on, and does not keep the thread alive. */
export function collectWhenIdle(options?: { readonly returnFree?: boolean }): void {
  const collection = idleCollection(options);
  every(CHECK_MS, task("the collection of an idle heap"), () => collection.check()).unref();
}

/** Collects the calling thread's heap, and gives back what the C library holds free: for a thread that has just done with what it will not need again. It stands for 100 ms and more. */
export function collectNow(): void {
  collectHeap();
  returnFreeMemory();
}

/**
 * The whole heap of this thread, moved together. Both flags are the process's and known to Node 20 and later; they stand for the time of one collection. Where another thread has just taken
 * the first one back, nothing is collected: the next look does.
 */
function collectHeap(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("globalThis.gc") as (() => void) | undefined;
  setFlagsFromString("--no-expose-gc");
  if (collect === undefined) return;
  setFlagsFromString("--compact-on-every-full-gc");
  try {
    collect();
  } finally {
    setFlagsFromString("--no-compact-on-every-full-gc");
  }
}

/** malloc_trim(3); only glibc has it, others keep what they have. */
function returnFreeMemory(): void {
  if (process.platform !== "linux") return;
  try {
    const koffi = loadKoffi();
    if (typeof koffi !== "string") koffi.load(null).func("int malloc_trim(size_t bytes)")(0);
  } catch {
    // As without it.
  }
}
