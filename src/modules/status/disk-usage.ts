// How much of the disk the data folder takes, as metrics, and whether that is more than DISK_LIMIT_GIB. An idle server takes no more than it needs.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { DiskFill } from "./store-facts.ts";

/** Measures that the coordinator cannot see in its stores. */
export interface DiskMeasure {
  readonly logBytes: number;
  readonly logSegments: number;
  /** Free for this process on the file system of the data folder. */
  readonly freeBytes: number;
}

/** Dependencies: what is measured, and how. */
export interface DiskUsageDependencies {
  readonly controlStore: KeyValueStore;
  readonly seriesStore: KeyValueStore;
  readonly counters: CoordinatorCounters;
  measureDisk(): DiskMeasure;
}

/** Milliseconds between two looks: 0.2 ms each. With a limit more often: at 50 MB/s it is passed by 50 MB. */
const INTERVAL_MS = 10_000;
const INTERVAL_WITH_LIMIT_MS = 1_000;
/** A store without a commit for one to two of these is idle. */
const TRIM_INTERVAL_MS = 5_000;
/** Between two steps of what is put in order: 3 ms each, so that a fourteenth of the time at most goes into it. */
const TRIM_STEP_MS = 40;
/** On a disk with less the stores keep the room that they have. */
const TRIM_FREE_BYTES_MIN = 1024 ** 3;

/** Looks from time to time. */
export class DiskUsage {
  readonly #limitBytes: number;
  readonly #dependencies: DiskUsageDependencies;
  #dueMs = 0;
  #trimDueMs = 0;
  #isOverLimit = false;
  #fill: DiskFill;

  /** `limitBytes`: Infinity for none. */
  constructor(limitBytes: number, dependencies: DiskUsageDependencies) {
    this.#limitBytes = limitBytes;
    this.#fill = { storeBytes: 0, logBytes: 0, freeBytes: 0, limitBytes };
    this.#dependencies = dependencies;
    dependencies.counters.set("diskLimitBytes", Number.isFinite(limitBytes) ? limitBytes : 0);
  }

  /** Monotonic time of the next look. */
  get dueMs(): number {
    return Math.min(this.#dueMs, this.#trimDueMs);
  }

  /** Monotonic time at which the next `trim` is due. */
  get trimDueMs(): number {
    return this.#trimDueMs;
  }

  get fill(): DiskFill {
    return this.#fill;
  }

  /** Whether entries and log took more than the limit at the last look. Free pages of the stores count for nothing: they are used again. */
  get isOverLimit(): boolean {
    return this.#isOverLimit;
  }

  /** Has stores put in order what is due, and give back room that they keep for commits where they are idle; to be called when it is due. Rejects with StoreError. */
  async trim(monotonicMs: number): Promise<void> {
    this.#trimDueMs = monotonicMs + TRIM_INTERVAL_MS;
    if (this.#fill.freeBytes < TRIM_FREE_BYTES_MIN) return;
    const { controlStore, seriesStore } = this.#dependencies;
    const haveMore = await Promise.all([controlStore.trim(), seriesStore.trim()]);
    if (haveMore.includes(true)) this.#trimDueMs = monotonicMs + TRIM_STEP_MS;
  }

  /** Looks, when it is time. */
  measure(monotonicMs: number): void {
    if (monotonicMs < this.#dueMs) return;
    const { controlStore, seriesStore, counters, measureDisk } = this.#dependencies;
    this.#dueMs = monotonicMs + (Number.isFinite(this.#limitBytes) ? INTERVAL_WITH_LIMIT_MS : INTERVAL_MS);
    const control = controlStore.stats();
    const series = seriesStore.stats();
    const { logBytes, logSegments, freeBytes } = measureDisk();
    counters.set("controlMapBytes", control.mapBytes);
    counters.set("controlUsedBytes", control.usedBytes);
    counters.set("controlDiskBytes", control.diskBytes);
    counters.set("seriesMapBytes", series.mapBytes);
    counters.set("seriesUsedBytes", series.usedBytes);
    counters.set("seriesDiskBytes", series.diskBytes);
    counters.set("logKeptBytes", logBytes);
    counters.set("logSegments", logSegments);
    counters.set("diskFreeBytes", freeBytes);
    this.#fill = { storeBytes: control.usedBytes + series.usedBytes, logBytes, freeBytes, limitBytes: this.#limitBytes };
    this.#isOverLimit = control.usedBytes + series.usedBytes + logBytes > this.#limitBytes;
  }
}
