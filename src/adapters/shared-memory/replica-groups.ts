// Which replica is taken in each group of series that a pair of Prometheus servers sends: words of the whole process, so that all engines decide the same.
//
// A group is one service's instance, which a server scrapes at once; its place holds the replica that is taken and when it was taken last. Whether that replica is
// silent is judged by its server, of which something is heard far more often than of one group: a group that is scraped once a minute would change hands at
// every scrape. A server's place holds when it was heard last and its longest usual gap. Where a server is heard of and a group is not, as when two pairs
// name their replicas alike and one server of one pair died, the group has a longer patience of its own.
//
// A place has 16 bytes: {key i64, i32, time in tenths of a second i32}, in a bucket of eight by its key. A full bucket gives the place away that was not
// touched for longest.
import { PROCESS_REPLICA_GROUPS, REPLICA_BUCKETS } from "../../core/layout/memory-map.ts";

/** Another replica is taken after so long without a word from the server of the one that was, or after one and a half of its usual gaps. */
export const REPLICA_SILENCE_MS = 30_000;
const USUAL_GAPS = 1.5;
/** The same for a group whose replica's server is heard of, and at most for a server. A series that is scraped more seldom is stale to Prometheus itself. */
export const GROUP_SILENCE_MS = 5 * 60_000;
/** A place that was not touched for so long may be given to another. */
const FORGOTTEN_MS = 10 * 60_000;
const BUCKET_PLACES = 8;
const ENTRY_SLOTS = 4;
/** Index of a place's third word. Of a group: hash of the replica that is taken, 0 = none. Of a server: its longest gap, a sixteenth of which is forgotten at each word of it. */
const VALUE = 2;
const TIME = 3;
const INTERVAL_MS = 100;
const NO_INDEX = -1;

/** Outcome for a replica's samples. */
export type ReplicaChoice = "taken" | "takes-over" | "passed-over" | "untracked";

/** One replica of one group, by hashes that are not 0. */
export interface ReplicaKeys {
  readonly group: bigint;
  /** The cluster that the server belongs to. */
  readonly cluster: bigint;
  /** 32 bits, signed. */
  readonly replica: number;
}

/** The groups and servers of the process. */
export class ReplicaGroups {
  readonly #slots: Int32Array;
  readonly #keys: BigInt64Array;
  /** Server that was heard of last, and when, in units of INTERVAL_MS. */
  #heardCluster = 0n;
  #heardReplica = 0;
  #heardAt = 0;

  constructor(buffer: SharedArrayBuffer) {
    this.#slots = new Int32Array(buffer, PROCESS_REPLICA_GROUPS);
    this.#keys = new BigInt64Array(buffer, PROCESS_REPLICA_GROUPS);
  }

  /** Decides whether samples of a replica are taken that came at `nowMs` (wall clock). Where there is no room to remember the group, they are. */
  choose({ group, cluster, replica }: ReplicaKeys, nowMs: number): ReplicaChoice {
    const now = Math.floor(nowMs / INTERVAL_MS) | 0;
    // The groups of one body mostly come from one server.
    if (replica !== this.#heardReplica || cluster !== this.#heardCluster || now !== this.#heardAt)
      this.#observe(serverKey(cluster, replica), now);
    this.#heardReplica = replica;
    this.#heardCluster = cluster;
    this.#heardAt = now;
    const at = this.#index(group, now);
    if (at === NO_INDEX) return "untracked";
    for (;;) {
      const taken = Atomics.load(this.#slots, at + VALUE);
      if (taken === replica) {
        Atomics.store(this.#slots, at + TIME, now);
        return "taken";
      }
      if (taken !== 0 && !this.#isSilent(at, serverKey(cluster, taken), now)) return "passed-over";
      if (Atomics.compareExchange(this.#slots, at + VALUE, taken, replica) !== taken) continue;
      Atomics.store(this.#slots, at + TIME, now);
      return taken === 0 ? "taken" : "takes-over";
    }
  }

  #observe(key: bigint, now: number): void {
    const at = this.#index(key, now);
    if (at === NO_INDEX) return;
    const gap = Math.max(0, (now - Atomics.exchange(this.#slots, at + TIME, now)) | 0);
    const longest = Atomics.load(this.#slots, at + VALUE);
    if (gap > 0) Atomics.store(this.#slots, at + VALUE, Math.max(gap, longest - (longest >> 4)));
  }

  #isSilent(groupAt: number, key: bigint, now: number): boolean {
    const groupMs = this.#ageMs(groupAt, now);
    if (groupMs < REPLICA_SILENCE_MS) return false;
    if (groupMs >= GROUP_SILENCE_MS) return true;
    const at = this.#index(key, now);
    if (at === NO_INDEX) return true;
    const usualMs = Atomics.load(this.#slots, at + VALUE) * INTERVAL_MS;
    return this.#ageMs(at, now) >= Math.min(GROUP_SILENCE_MS, Math.max(REPLICA_SILENCE_MS, USUAL_GAPS * usualMs));
  }

  /** First word of the key's place, which it gets where it has none; NO_PLACE when the bucket is full of those that are in use. */
  #index(key: bigint, now: number): number {
    const bucket = Number(BigInt.asUintN(16, key >> 17n)) % REPLICA_BUCKETS;
    const first = bucket * BUCKET_PLACES * ENTRY_SLOTS;
    const last = first + BUCKET_PLACES * ENTRY_SLOTS;
    for (let at = first; at < last; at += ENTRY_SLOTS) if (Atomics.load(this.#keys, at >> 1) === key) return at;
    for (let at = first; at < last; at += ENTRY_SLOTS) {
      const stored = Atomics.load(this.#keys, at >> 1);
      if (stored !== 0n && this.#ageMs(at, now) < FORGOTTEN_MS) continue;
      const before = Atomics.compareExchange(this.#keys, at >> 1, stored, key);
      if (before !== key && before !== stored) continue;
      if (before === stored) {
        Atomics.store(this.#slots, at + VALUE, 0);
        Atomics.store(this.#slots, at + TIME, now);
      }
      return at;
    }
    return NO_INDEX;
  }

  /** A clock that was set back makes nobody silent. */
  #ageMs(at: number, now: number): number {
    return Math.max(0, (now - Atomics.load(this.#slots, at + TIME)) | 0) * INTERVAL_MS;
  }
}

function serverKey(cluster: bigint, replica: number): bigint {
  return BigInt.asIntN(64, (cluster ^ BigInt(replica)) * 0x9e3779b97f4a7c15n) | 1n;
}
