// First sight of an identity in a lane: canonical bytes, hash, partition, a ref of its own; the definition goes ahead of the stream's rows.
import type { EngineMemory, ProcessWords } from "../../adapters/runtime/engine-memory.ts";
import { IDENTITY_BYTES_MAX } from "../../core/config/limits.ts";
import { SCRATCH } from "../../core/layout/memory-map.ts";
import type { StreamName } from "../../core/protocol/coordinator-frame.ts";
import { engineOf, partitionOf } from "../../domain/placement/partition.ts";
import { identityText } from "../../domain/series/stream-identity.ts";
import type { LaneExports } from "../../domain/kernel/lane-kernel.ts";
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
  /** Whether this engine's own shard knows the identity hash at `hashPointer`. */
  readonly ownsStream: (hashPointer: number, tenant: number) => boolean;
}

/** Defines streams for one lane. */
export class StreamDefiner {
  readonly #options: StreamDefinerOptions;
  readonly #dependencies: StreamDefinerDependencies;
  refused = 0;

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
    const full = processWords.tenantStreams(tenant) >= this.#options.seriesLimit;
    if (full && !this.#dependencies.ownsStream(hashPointer, tenant)) {
      this.refused++;
      return "series_limit_exceeded";
    }
    const partition = partitionOf(name.tenant, name.serviceId);
    const destination = engineOf(partition, this.#options.engines);
    const ref = processWords.takeRef();
    unit.define(destination, {
      ref, partition, flags, tenant,
      hash: memory.bytes.slice(hashPointer, hashPointer + 16),
      identity: memory.bytes.slice(SCRATCH, SCRATCH + bytes),
    });
    return { ref, partition, destination };
  }
}
