// Families of classic histogram buckets of one engine: the kernel lists the samples of streams that are buckets; here each finds its family. What the
// families know of their newest times is kept in checkpoints. A row that comes again after a start is listed again, though its stream knows it, so a
// family that is behind its streams catches up.
import { FAMILY_BUCKETS_MAX, FAMILY_WAIT_MS_MAX } from "../../../core/config/limits.ts";
import type { ShareLedger } from "../../../core/fairness/share-ledger.ts";
import {
  BUCKET_ARRIVAL,
  BUCKET_BEGAN,
  BUCKET_SAMPLE_BYTES,
  BUCKET_SLOT,
  BUCKET_TIME,
  BUCKET_VALUE,
} from "../../../core/layout/bucket-sample.ts";
import { BUCKET_SAMPLES, PARTITIONS } from "../../../core/layout/memory-map.ts";
import { DEFINE_SERVICE_LABEL_SHIFT, SECTION_BUCKET_FAMILIES } from "../../../core/layout/row-frame.ts";
import { FLAG_BUCKET, SERVICE_LABEL_FOREIGN } from "../../../core/layout/stream-record.ts";
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import { pieceReader, StatePieces } from "../../../domain/distribution/series-state.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import { identityName, identityText, ownAttribute } from "../../../domain/series/stream-identity.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { DerivedSeries } from "../shard/derived-series.ts";
import type { MessageHandler } from "../shard/message-handler.ts";
import { BucketFamily } from "./bucket-family.ts";
import { DerivedQuantiles } from "./derived-quantiles.ts";
import { readFamily, writeFamily } from "./family-state.ts";

const SUFFIX = "_bucket";
const BOUND = "le";

export interface BucketFamiliesOptions {
  readonly seriesLimit: number;
  /** STREAM_IDLE_HOURS in ms. */
  readonly idleMs: number;
}

export interface BucketFamiliesDependencies {
  readonly kernel: Pick<ShardKernel, "bucketSamples" | "bucketSamplesReset" | "records">;
  readonly series: DerivedSeries;
  readonly counters: EngineCounters;
  /** Who holds how many families. */
  readonly shares: ShareLedger;
}

/** Families by partition. */
export class BucketFamilies implements MessageHandler {
  readonly kind = SECTION_BUCKET_FAMILIES;
  readonly #options: BucketFamiliesOptions;
  readonly #dependencies: BucketFamiliesDependencies;
  readonly #families: ReadonlyArray<Map<string, BucketFamily>> = Array.from({ length: PARTITIONS }, () => new Map());
  /** By slot: the family, and the number of the bucket in it. */
  #familyOf: Array<BucketFamily | undefined> = [];
  #bucketOf = new Uint16Array(1024);
  readonly #slots: Uint32Array;
  readonly #doubles: Float64Array;
  #dirty: BucketFamily[] = [];
  /** Families whose newest time waits for buckets, and since when, in the order of that. */
  readonly #waiting = new Map<BucketFamily, { readonly timeMs: number; readonly sinceMs: number }>();
  #wallMs = 0;
  #sweeping = 0;

  constructor(options: BucketFamiliesOptions, dependencies: BucketFamiliesDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { buffer } = dependencies.kernel.records.view;
    this.#slots = new Uint32Array(buffer);
    this.#doubles = new Float64Array(buffer);
  }

  /** There are no messages of this kind. */
  take(): void {
    throw new Error("families of buckets take no messages");
  }

  /** Hands the listed samples to their families; applies nothing. */
  collect(): void {
    const { kernel, counters } = this.#dependencies;
    const slots = this.#slots;
    const doubles = this.#doubles;
    const end = BUCKET_SAMPLES + kernel.bucketSamples() * BUCKET_SAMPLE_BYTES;
    let late = 0;
    for (let at = BUCKET_SAMPLES; at < end; at += BUCKET_SAMPLE_BYTES) {
      const slot = slots[(at + BUCKET_SLOT) >>> 2] as number;
      const known = this.#familyOf[slot];
      const family = known === undefined || known.isForgotten ? this.#join(slot) : known;
      if (family === undefined) continue;
      const timeMs = doubles[(at + BUCKET_TIME) >>> 3] as number;
      const value = doubles[(at + BUCKET_VALUE) >>> 3] as number;
      const bucket = this.#bucketOf[slot] as number;
      if (Number.isNaN(value)) family.end(bucket, timeMs);
      else if (!family.take(bucket, timeMs, value, slots[(at + BUCKET_BEGAN) >>> 2] === 1)) late++;
      if (family.isDirty) continue;
      family.arrivalMs = doubles[(at + BUCKET_ARRIVAL) >>> 3] as number;
      this.#touch(family);
    }
    if (late > 0) counters.add("bucketsLate", late);
    kernel.bucketSamplesReset();
  }

  /** The slots' streams have left memory. */
  removeSlots(slots: readonly number[]): void {
    for (const slot of slots) if (slot < this.#familyOf.length) this.#familyOf[slot] = undefined;
  }

  #touch(family: BucketFamily): void {
    if (family.isDirty) return;
    family.isDirty = true;
    family.touchedMs = this.#wallMs;
    this.#dirty.push(family);
  }

  /** Writes what the samples since the last call say. To be called when no row is being applied. */
  settle(): boolean {
    if (this.#dependencies.kernel.bucketSamples() > 0) this.collect();
    if (this.#dirty.length === 0) return false;
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const family of dirty) {
      family.isDirty = false;
      family.settle();
      this.#await(family);
    }
    this.#dependencies.series.flush();
    return true;
  }

  /** A new newest time waits anew. */
  #await(family: BucketFamily): void {
    if (!family.waits) {
      if (this.#waiting.size > 0) this.#waiting.delete(family);
    } else if (this.#waiting.get(family)?.timeMs !== family.newestMs) {
      this.#waiting.delete(family);
      this.#waiting.set(family, { timeMs: family.newestMs, sinceMs: this.#wallMs });
    }
  }

  /** Looks the family of a stream up by its names; undefined when the stream is no bucket, or there is no room. */
  #join(slot: number): BucketFamily | undefined {
    const { records } = this.#dependencies.kernel;
    const at = records.identityAddress(slot);
    const identity = Buffer.from(this.#slots.buffer as ArrayBuffer, at, records.identityBytes(slot)).toString("utf8");
    const name = bucketName(identityName(identity));
    if (name === undefined) {
      records.clearFlags(slot, FLAG_BUCKET);
      return undefined;
    }
    const family = this.#familyNamed(name.family, records.partition(slot), records.serviceLabel(slot));
    if (family === undefined || (family.bounds.length >= FAMILY_BUCKETS_MAX && !family.bounds.includes(name.bound))) {
      this.#dependencies.counters.add("bucketFamiliesRefused", 1);
      records.clearFlags(slot, FLAG_BUCKET); // or each of its samples would ask again
      return undefined;
    }
    this.#reserve(slot);
    this.#familyOf[slot] = family;
    this.#bucketOf[slot] = family.bucket(name.bound);
    return family;
  }

  #reserve(slot: number): void {
    while (this.#familyOf.length <= slot) this.#familyOf.push(undefined);
    if (slot < this.#bucketOf.length) return;
    const buckets = new Uint16Array(2 * slot);
    buckets.set(this.#bucketOf);
    this.#bucketOf = buckets;
  }

  #familyNamed(name: StreamName, partition: number, serviceLabel: number): BucketFamily | undefined {
    const identity = identityText(name);
    const families = this.#families[partition] as Map<string, BucketFamily>;
    const known = families.get(identity);
    if (known !== undefined) return known;
    const { shares } = this.#dependencies;
    if (shares.available(name.tenant) > 0) return this.#add(identity, name, partition, serviceLabel);
    shares.refuse(name.tenant);
    return undefined;
  }

  #add(identity: string, name: StreamName, partition: number, serviceLabel = SERVICE_LABEL_FOREIGN): BucketFamily {
    const { series, counters, shares } = this.#dependencies;
    const { seriesLimit } = this.#options;
    const defined = serviceLabel << DEFINE_SERVICE_LABEL_SHIFT;
    const derived = new DerivedQuantiles(name, { series, seriesLimit, defined, countRefused: () => counters.add("derivedRefused", 1) });
    const family = new BucketFamily(identity, name, partition, derived);
    (this.#families[partition] as Map<string, BucketFamily>).set(identity, family);
    shares.add(name.tenant);
    counters.set("bucketFamilies", shares.taken);
    return family;
  }

  *save(partition: number): Generator<Uint8Array> {
    const pieces = new StatePieces();
    for (const family of (this.#families[partition] as Map<string, BucketFamily>).values()) {
      writeFamily(pieces.writer, family);
      yield* pieces.full();
    }
    yield* pieces.rest();
  }

  restore(partition: number, piece: Uint8Array): void {
    const reader = pieceReader(piece);
    while (!reader.isAtEnd) {
      const family = readFamily(reader, (identity) => this.#add(identity, identityName(identity), partition));
      this.#touch(family);
    }
  }

  /** Ends the waiting of families whose buckets have not all come; forgets those of one partition that have been idle. */
  onInterval(wallMs: number): void {
    this.#wallMs = wallMs;
    for (const [family, { sinceMs }] of this.#waiting) {
      if (sinceMs > 0 && wallMs - sinceMs < FAMILY_WAIT_MS_MAX) break;
      this.#waiting.delete(family);
      if (sinceMs === 0) this.#waiting.set(family, { timeMs: family.newestMs, sinceMs: wallMs });
      else this.#giveUp(family);
    }
    this.#forgetIdle(wallMs - this.#options.idleMs);
  }

  #giveUp(family: BucketFamily): void {
    family.close();
    this.#touch(family);
  }

  #forgetIdle(beforeMs: number): void {
    const families = this.#families[this.#sweeping] as Map<string, BucketFamily>;
    this.#sweeping = (this.#sweeping + 1) % PARTITIONS;
    for (const [identity, family] of families) {
      if (Math.max(family.newestMs, family.touchedMs) >= beforeMs || family.isDirty) continue;
      family.isForgotten = true;
      families.delete(identity);
      this.#waiting.delete(family);
      const { shares, counters } = this.#dependencies;
      shares.give(family.name.tenant);
      counters.set("bucketFamilies", shares.taken);
    }
  }
}

// How the names of a classic histogram's buckets and of its family belong together.

/** The base name that quantiles of the bucket's family go under, and the bucket's upper bound; undefined for a stream that is no bucket. */
function bucketName(name: StreamName): { readonly family: StreamName; readonly bound: number } | undefined {
  const { metricName, attributes } = name;
  const le = ownAttribute(attributes, BOUND);
  if (!metricName.endsWith(SUFFIX) || metricName.length === SUFFIX.length) return undefined;
  const bound = boundOf(le);
  if (Number.isNaN(bound)) return undefined;
  const others = Object.fromEntries(Object.entries(attributes).filter(([attribute]) => attribute !== BOUND));
  return { family: { ...name, metricName: metricName.slice(0, -SUFFIX.length), attributes: others }, bound };
}

/** NaN for what is no bound. */
function boundOf(le: unknown): number {
  if (le === "+Inf" || le === "Inf") return Number.POSITIVE_INFINITY;
  const bound = typeof le === "string" && le.trim() !== "" ? Number(le) : le;
  return typeof bound === "number" && Number.isFinite(bound) ? bound : Number.NaN;
}
