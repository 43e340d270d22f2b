// First sight of an identity in a lane: canonical bytes, hash, partition, a ref of its own; the definition goes ahead of the stream's rows.
import type { EngineMemory, ProcessWords } from "../../adapters/runtime/engine-memory.ts";
import { IDENTITY_BYTES_MAX } from "../../core/config/limits.ts";
import { CONTROL_TABLE_BITS, SCRATCH } from "../../core/layout/memory-map.ts";
import { DEFINE_COUNTED } from "../../core/layout/row-frame.ts";
import type { StreamName } from "../../core/protocol/coordinator-frame.ts";
import type { LaneExports } from "../../domain/kernel/lane-kernel.ts";
import { shardHolds, TABLE_BITS_FIRST } from "../../domain/kernel/shard-lookup.ts";
import { engineOf, partitionOf } from "../../domain/placement/partition.ts";
import { identityText } from "../../domain/series/stream-identity.ts";
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
  readonly engines: number;
  readonly seriesLimit: number;
}

export interface StreamDefinerDependencies {
  readonly memory: EngineMemory;
  readonly processWords: ProcessWords;
  readonly kernel: LaneExports;
  /** Memories of all engines: the shard that a stream belongs to is asked whether it holds it. */
  readonly memories: readonly EngineMemory[];
}

/** Defines streams for one lane. */
export class StreamDefiner {
  readonly #options: StreamDefinerOptions;
  readonly #dependencies: StreamDefinerDependencies;

  constructor(options: StreamDefinerOptions, dependencies: StreamDefinerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Gives the stream a ref and puts its definition into the unit, or says why not. */
  define(unit: WorkUnit, tenant: number, name: StreamName, flags: number): DefinedStream | DefineRefusal {
    const { memory, kernel, processWords } = this.#dependencies;
    const text = identityText(name);
    if (text.length > IDENTITY_BYTES_MAX) return "identity_too_long";
    const bytes = memory.slice(SCRATCH, IDENTITY_BYTES_MAX * 3).write(text);
    if (bytes > IDENTITY_BYTES_MAX) return "identity_too_long";
    const hashPointer = kernel.identityHash(SCRATCH, bytes);
    const partition = partitionOf(name.tenant, name.serviceId);
    const destination = engineOf(partition, this.#options.engines);
    const known = this.#isHeld(destination, hashPointer, tenant);
    if (!known && processWords.tenantStreams(tenant) >= this.#options.seriesLimit) return "series_limit_exceeded";
    if (!known) processWords.addTenantStreams(tenant, 1);
    const ref = processWords.takeRef();
    unit.define(destination, {
      ref,
      partition,
      flags: known ? flags : flags | DEFINE_COUNTED,
      tenant,
      hash: memory.bytes.slice(hashPointer, hashPointer + 16),
      identity: memory.bytes.slice(SCRATCH, SCRATCH + bytes),
    });
    return { ref, partition, destination };
  }

  #isHeld(engine: number, hashPointer: number, tenant: number): boolean {
    const owner = this.#dependencies.memories[engine] as EngineMemory;
    const bits = owner.load(CONTROL_TABLE_BITS) || TABLE_BITS_FIRST;
    return shardHolds(owner.view, bits, this.#dependencies.memory.view, hashPointer, tenant);
  }
}
