// Which replica is taken in each group of series that a pair of Prometheus servers sends: words of the whole process, so that all lanes decide the same.
// A group has 16 bytes: {key i64, hash of the replica that is taken i32, when it was taken last, in tenths of a second, i32}, in a bucket of eight by its key.
// A full bucket gives the group that has been silent longest away.
import { PROCESS_REPLICA_GROUPS, REPLICA_BUCKETS } from "../../core/layout/memory-map.ts";

/** Another replica is taken after so long without one from the replica that was. */
export const REPLICA_SILENCE_MS = 30_000;
/** A group that was silent for so long may lose its place to another. */
const FORGOTTEN_MS = 10 * 60_000;
const BUCKET_GROUPS = 8;
const GROUP_WORDS = 4;
const ELECTED = 2;
const TAKEN = 3;
const TICK_MS = 100;

/** What became of a replica's samples. */
export type ReplicaChoice = "taken" | "takes-over" | "passed-over" | "untracked";

/** The groups of the process. */
export class ReplicaGroups {
  readonly #words: Int32Array;
  readonly #keys: BigInt64Array;

  constructor(buffer: SharedArrayBuffer) {
    this.#words = new Int32Array(buffer, PROCESS_REPLICA_GROUPS);
    this.#keys = new BigInt64Array(buffer, PROCESS_REPLICA_GROUPS);
  }

  /**
   * Decides whether samples of a replica are taken that came at `nowMs` (wall clock); `key` is a hash of the group, `replica` one of its replica, neither 0.
   * Where there is no room to remember the group, they are.
   */
  choose(key: bigint, replica: number, nowMs: number): ReplicaChoice {
    const now = Math.floor(nowMs / TICK_MS) | 0;
    const at = this.#place(key, now);
    if (at < 0) return "untracked";
    for (;;) {
      const elected = Atomics.load(this.#words, at + ELECTED);
      if (elected === replica) {
        Atomics.store(this.#words, at + TAKEN, now);
        return "taken";
      }
      if (elected !== 0 && this.#silentMs(at, now) < REPLICA_SILENCE_MS) return "passed-over";
      if (Atomics.compareExchange(this.#words, at + ELECTED, elected, replica) !== elected) continue;
      Atomics.store(this.#words, at + TAKEN, now);
      return elected === 0 ? "taken" : "takes-over";
    }
  }

  /** First word of the group's place, which it gets where it has none; -1 when the bucket is full of groups that are heard of. */
  #place(key: bigint, now: number): number {
    const bucket = Number(BigInt.asUintN(16, key >> 17n)) % REPLICA_BUCKETS;
    const first = bucket * BUCKET_GROUPS * GROUP_WORDS;
    const last = first + BUCKET_GROUPS * GROUP_WORDS;
    for (let at = first; at < last; at += GROUP_WORDS) if (Atomics.load(this.#keys, at >> 1) === key) return at;
    for (let at = first; at < last; at += GROUP_WORDS) {
      const held = Atomics.load(this.#keys, at >> 1);
      if (held !== 0n && this.#silentMs(at, now) < FORGOTTEN_MS) continue;
      const before = Atomics.compareExchange(this.#keys, at >> 1, held, key);
      if (before === key) return at;
      if (before !== held) continue;
      Atomics.store(this.#words, at + ELECTED, 0);
      return at;
    }
    return -1;
  }

  /** A clock that was set back makes nobody silent. */
  #silentMs(at: number, now: number): number {
    return Math.max(0, (now - Atomics.load(this.#words, at + TAKEN)) | 0) * TICK_MS;
  }
}
