// First sight of a stream in an ingest: canonical identity, hash, partition, a ref of its own; the definition goes ahead of the stream's rows. The kernel
// defines most remote-write series by itself, with refs and a number of new streams that are handed out here; the rest is defined one by one.
import type { EngineMemory, ProcessSlots } from "../../../adapters/shared-memory/engine-memory.ts";
import { NEW_STREAM_TEXT_BYTES } from "../../../core/config/body-limits.ts";
import { IDENTITY_BYTES_MAX, NEW_STREAMS_AHEAD_MAX, REFS_AHEAD } from "../../../core/config/limits.ts";
import { STATUS_ASK_OWNER, STATUS_DEFINITIONS_FULL } from "../../../core/layout/kernel-status.ts";
import { CONTROL_TABLE_BITS, CONTROL_TABLE_EDITS, SCRATCH, TENANT_HEAD, TENANT_HEAD_BYTES } from "../../../core/layout/memory-map.ts";
import { DEFINE_COUNTED, DEFINE_SERVICE_LABEL_MASK, DEFINE_STREAM_FLAGS } from "../../../core/layout/row-frame.ts";
import { FLAG_COUNTER } from "../../../core/layout/stream-record.ts";
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import { shardHolds, TABLE_BITS_FIRST } from "../../../domain/kernel/shard-lookup.ts";
import { engineOf, partitionOf, serviceSeed } from "../../../domain/placement/partition.ts";
import { identityHead, identityText } from "../../../domain/series/stream-identity.ts";
import type { WorkUnit } from "./work-unit.ts";

/** Where a defined stream's rows go. */
export interface DefinedStream {
  readonly ref: number;
  readonly partition: number;
  readonly destination: number;
}

/** Why a stream cannot be defined. */
export type DefineRefusal = "identity_too_long" | "series_limit_exceeded";

export interface StreamDefinerOptions {
  readonly engine: number;
  readonly engines: number;
  readonly seriesLimit: number;
  /** Cumulative values become deltas (OTEL_TEMPORALITY_NORMALIZE); else no stream is a counter. */
  readonly convertsCounters: boolean;
}

export interface StreamDefinerDependencies {
  readonly memory: EngineMemory;
  readonly processSlots: ProcessSlots;
  readonly kernel: IngestExports;
  /** Memories of all engines: the shard that a stream belongs to is asked whether it holds it. */
  readonly memories: readonly EngineMemory[];
}

const NO_TENANT = -1;
/** What a definition says of its stream. */
const ALL_FLAGS = DEFINE_STREAM_FLAGS | DEFINE_SERVICE_LABEL_MASK;
/** Looks into another shard's table; each takes about 1 us, an edit of it 100 us. */
const LOOKUPS_MAX = 200;

/** Defines streams for one engine. */
export class StreamDefiner {
  readonly #options: StreamDefinerOptions;
  readonly #dependencies: StreamDefinerDependencies;
  readonly #flagsRetained: number;
  readonly #identity: Buffer;
  readonly #head: Buffer;
  /** The tenant whose series the kernel defines now. */
  #tenant = NO_TENANT;
  #allows = false;

  constructor(options: StreamDefinerOptions, dependencies: StreamDefinerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#identity = dependencies.memory.slice(SCRATCH, IDENTITY_BYTES_MAX * 3);
    this.#head = dependencies.memory.slice(TENANT_HEAD, TENANT_HEAD_BYTES);
    this.#flagsRetained = options.convertsCounters ? ALL_FLAGS : ALL_FLAGS & ~FLAG_COUNTER;
    dependencies.kernel.defineSetup(options.engine, options.engines, this.#flagsRetained);
  }

  /** Lets the kernel define the series of a tenant. To be ended with endSeries() before this ingest does anything else. */
  beginSeries(tenant: number, tenantName: string): void {
    if (tenant === this.#tenant) return;
    this.#tenant = tenant;
    const head = identityHead(tenantName);
    const fits = head.length * 3 <= TENANT_HEAD_BYTES;
    this.#dependencies.kernel.defineTenant(fits ? this.#head.write(head) : 0, serviceSeed(tenantName));
  }

  /** Lets the kernel define no series until the next beginSeries(). */
  leaveSeries(): void {
    this.#tenant = NO_TENANT;
    this.#dependencies.kernel.defineTenant(0, 0);
  }

  /** After STATUS_ALLOWANCE_SPENT: gives the kernel refs and new streams; false when the tenant is so near its limit that each is to be asked for. */
  allowSeries(): boolean {
    const { processSlots, kernel } = this.#dependencies;
    const { seriesLimit, engines } = this.#options;
    if (kernel.defineRefsLeft() === 0) {
      kernel.defineRefs(processSlots.takeRefs(REFS_AHEAD), REFS_AHEAD);
      if (this.#allows) return true;
    }
    this.#takeBack();
    const streams = processSlots.reserveTenantStreams(this.#tenant, NEW_STREAMS_AHEAD_MAX, seriesLimit, 2 * engines);
    kernel.defineAllow(streams);
    this.#allows = streams > 0;
    return this.#allows;
  }

  /** Takes back what the kernel did not use, so that nobody is refused for it. */
  endSeries(): void {
    if (this.#allows) this.#takeBack();
  }

  #takeBack(): void {
    const { processSlots, kernel } = this.#dependencies;
    const left = kernel.defineAllow(0);
    if (left > 0) processSlots.addTenantStreams(this.#tenant, -left);
    this.#allows = false;
  }

  /** After STATUS_ASK_OWNER: asks the shard of another engine for the stream that the kernel is about to define; STATUS_OK or _ALLOWANCE_SPENT. */
  settleSeries(): number {
    const { kernel } = this.#dependencies;
    const isInShard = this.#isInShard(kernel.definedDestination(), kernel.definedHash(), this.#tenant);
    return kernel.defineSettle(isInShard ? 1 : 0);
  }

  /** Gives the stream a ref and puts its definition into the unit, or says why not. */
  define(unit: WorkUnit, tenant: number, name: StreamName, input: number): DefinedStream | DefineRefusal {
    const { kernel } = this.#dependencies;
    unit.worked(NEW_STREAM_TEXT_BYTES, 0);
    const flags = input & this.#flagsRetained;
    const text = identityText(name);
    if (text.length > IDENTITY_BYTES_MAX) return "identity_too_long";
    const bytes = this.#identity.write(text);
    if (bytes > IDENTITY_BYTES_MAX) return "identity_too_long";
    const partition = partitionOf(name.tenant, name.serviceId);
    const destination = engineOf(partition, this.#options.engines);
    const status = unit.overflow.length > 0 ? STATUS_DEFINITIONS_FULL : kernel.definePrepare(SCRATCH, bytes, tenant, partition, flags);
    const hash = status === STATUS_DEFINITIONS_FULL ? kernel.identityHash(SCRATCH, bytes) : kernel.definedHash();
    const asks = status === STATUS_ASK_OWNER || status === STATUS_DEFINITIONS_FULL;
    const isInShard = asks ? this.#isInShard(destination, hash, tenant) : kernel.definedIsKnown() === 1;
    const ref = this.#takeRef(tenant, isInShard);
    if (ref === undefined) return "series_limit_exceeded";
    if (status !== STATUS_DEFINITIONS_FULL) kernel.defineFinish(ref, isInShard ? 1 : 0);
    else this.#defineBeyond(unit, { ref, partition, flags: isInShard ? flags : flags | DEFINE_COUNTED, tenant }, hash, bytes);
    return { ref, partition, destination };
  }

  /** Whether a tenant may have one more stream, or has this one. */
  mayHave(tenant: number, name: StreamName): boolean {
    const { kernel, processSlots } = this.#dependencies;
    if (processSlots.tenantStreams(tenant) < this.#options.seriesLimit) return true;
    const bytes = this.#identity.write(identityText(name));
    const destination = engineOf(partitionOf(name.tenant, name.serviceId), this.#options.engines);
    return bytes <= IDENTITY_BYTES_MAX && this.#isInShard(destination, kernel.identityHash(SCRATCH, bytes), tenant);
  }

  /** A ref for a stream, which is counted when it is new; undefined when the tenant has as many as it may. */
  #takeRef(tenant: number, isInShard: boolean): number | undefined {
    const { processSlots } = this.#dependencies;
    if (!isInShard) {
      if (processSlots.tenantStreams(tenant) >= this.#options.seriesLimit) return undefined;
      processSlots.addTenantStreams(tenant, 1);
    }
    return processSlots.takeRef();
  }

  /** The definitions area is full and the body at hand cannot wait for the next unit. */
  #defineBeyond(
    unit: WorkUnit,
    definition: { readonly ref: number; readonly partition: number; readonly flags: number; readonly tenant: number },
    hash: number,
    bytes: number,
  ): void {
    const { memory } = this.#dependencies;
    unit.define({ ...definition, hash: memory.bytes.slice(hash, hash + 16), identity: memory.bytes.slice(SCRATCH, SCRATCH + bytes) });
  }

  /** While the owner takes entries out of its table, a look may miss what is there: it is repeated, and then believed; the owner corrects the count. */
  #isInShard(engine: number, hashPointer: number, tenant: number): boolean {
    const owner = this.#dependencies.memories[engine] as EngineMemory;
    for (let lookups = 0; lookups < LOOKUPS_MAX; lookups++) {
      const edits = owner.load(CONTROL_TABLE_EDITS);
      const bits = owner.load(CONTROL_TABLE_BITS) || TABLE_BITS_FIRST;
      const isInShard = shardHolds(owner.view, bits, this.#dependencies.memory.view, hashPointer, tenant);
      if (isInShard || (edits % 2 === 0 && owner.load(CONTROL_TABLE_EDITS) === edits)) return isInShard;
    }
    return true;
  }
}
