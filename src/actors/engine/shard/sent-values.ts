// Values as they were sent that do not follow from the ring: what a counter begins anew with, what comes late, NaN, infinities, stale markers. They are gathered for a stream
// at a time, so that a run of them is one chunk, and wait in the partition's chunks before a checkpoint, an eviction or an answer reads those.
import { SENT_RUN_SAMPLES_MAX, SENT_RUNS_PER_PARTITION_MAX } from "../../../core/config/sample-limits.ts";
import { PARTITIONS } from "../../../core/layout/memory-map.ts";
import { lastOfEachTime } from "../../../domain/codec/sent-samples.ts";

/** Values of one stream, in the order in which they came. */
interface Run {
  readonly times: Float64Array;
  readonly values: Float64Array;
  count: number;
}

/** Stores values of a stream, ascending by time, as a chunk of their own. */
export type StoreSent = (slot: number, times: Float64Array, values: Float64Array, count: number) => void;

/** Those of one shard that are in no chunk yet. */
export class SentValues {
  /** By partition, by slot, the oldest first. */
  readonly #runs = Array.from({ length: PARTITIONS }, () => new Map<number, Run>());
  readonly #store: StoreSent;

  constructor(store: StoreSent) {
    this.#store = store;
  }

  /** Takes a value, the first of `value`, by its bits. Where there are many streams, that which has waited longest is stored. */
  add(partition: number, slot: number, timeMs: number, value: Float64Array): void {
    const runs = this.#runs[partition] as Map<number, Run>;
    const known = runs.get(slot);
    const run = known ?? { times: new Float64Array(SENT_RUN_SAMPLES_MAX), values: new Float64Array(SENT_RUN_SAMPLES_MAX), count: 0 };
    if (known === undefined) {
      const [oldest] = runs.size < SENT_RUNS_PER_PARTITION_MAX ? [] : runs.keys();
      if (oldest !== undefined) this.storeStream(partition, oldest);
      runs.set(slot, run);
    }
    run.times[run.count] = timeMs;
    run.values.set(value.subarray(0, 1), run.count++);
    if (run.count === SENT_RUN_SAMPLES_MAX) this.storeStream(partition, slot);
  }

  /** Stores the values of a stream. */
  storeStream(partition: number, slot: number): void {
    const runs = this.#runs[partition] as Map<number, Run>;
    const run = runs.get(slot);
    if (run === undefined) return;
    runs.delete(slot);
    const times = run.times.subarray(0, run.count);
    if (times.every((timeMs, at) => at === 0 || (times[at - 1] as number) < timeMs)) this.#store(slot, times, run.values, run.count);
    else {
      const { timesMs, values } = lastOfEachTime(times, run.values);
      this.#store(slot, timesMs, values, timesMs.length);
    }
  }

  /** Stores all values of a partition. */
  storePartition(partition: number): void {
    for (const slot of [...(this.#runs[partition] as Map<number, Run>).keys()]) this.storeStream(partition, slot);
  }
}
