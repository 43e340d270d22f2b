// Has the ingest kernel define remote-write series, and reads what it wrote; the oracle is TypeScript's way of doing the same.
import type { Definition } from "../../src/actors/engine/unit/work-unit.ts";
import { STATUS_DONE, STATUS_METADATA } from "../../src/core/layout/kernel-status.ts";
import { BODY_PADDING_BYTES, DECOMPRESSED, DEFINITIONS, SCRATCH, TENANT_HEAD } from "../../src/core/layout/memory-map.ts";
import {
  DEFINE_COUNTED,
  DEFINE_SERVICE_LABEL_MASK,
  DEFINE_SERVICE_LABEL_SHIFT,
  DEFINE_STREAM_FLAGS,
} from "../../src/core/layout/row-frame.ts";
import type { IngestExports } from "../../src/domain/kernel/ingest-kernel.ts";
import type { ShardExports } from "../../src/domain/kernel/shard-kernel.ts";
import { partitionOf, serviceSeed } from "../../src/domain/placement/partition.ts";
import { flagsOfSeries } from "../../src/domain/series/classification.ts";
import { identityHead, identityText, nameOfLabels, serviceLabelNumber } from "../../src/domain/series/stream-identity.ts";
import { decodeDefinitions } from "./encoded-definitions.ts";
import { loadKernel } from "./kernel.ts";
import { encodeBody } from "./remote-write-body.ts";

/** Time of the samples. */
export const BASE_MS = 1_795_220_000_000;

/** A kernel that defines the series of one tenant. */
export class DefinitionRig {
  readonly loaded = loadKernel<IngestExports & ShardExports>();
  readonly kernel = this.loaded.kernel;
  readonly #tenant: string;

  constructor({ tenant = "default", engine = 0, engines = 1 } = {}) {
    this.#tenant = tenant;
    const head = new TextEncoder().encode(identityHead(tenant));
    this.loaded.bytes.set(head, TENANT_HEAD);
    this.kernel.defineSetup(engine, engines, DEFINE_STREAM_FLAGS | DEFINE_SERVICE_LABEL_MASK);
    this.kernel.defineTenant(head.length, serviceSeed(tenant));
    this.kernel.defineRefs(100, 1_000_000);
    this.kernel.defineAllow(1_000_000);
  }

  /** Begins a body of series with these labels and one sample each. */
  begin(series: ReadonlyArray<ReadonlyArray<readonly [string, string]>>): void {
    const samples = [{ value: 1, time: BASE_MS }];
    this.beginBody(
      encodeBody(series.map((labels) => ({ labels: labels.map(([name, value]) => [name, value] as [string, string]), samples }))),
    );
  }

  beginBody(body: Uint8Array): void {
    const { bytes } = this.loaded;
    bytes.set(body, DECOMPRESSED);
    bytes.fill(0, DECOMPRESSED + body.length, DECOMPRESSED + body.length + BODY_PADDING_BYTES);
    this.kernel.stagingReset(64);
    this.kernel.remoteWriteBegin(DECOMPRESSED, body.length, 3, BASE_MS, BASE_MS, BASE_MS + 1000, 20_000);
  }

  /** Has the whole body of 2.0 defined and staged. */
  take2(body: Uint8Array): void {
    const { bytes } = this.loaded;
    bytes.set(body, DECOMPRESSED);
    bytes.fill(0, DECOMPRESSED + body.length, DECOMPRESSED + body.length + BODY_PADDING_BYTES);
    this.kernel.stagingReset(64);
    this.kernel.remoteWrite2Begin(DECOMPRESSED, body.length, 3, BASE_MS, BASE_MS, BASE_MS + 1000, 20_000);
    for (;;) {
      const status = this.kernel.remoteWriteStep();
      if (status === STATUS_DONE) return;
      if (status !== STATUS_METADATA) throw new Error(`status ${status}`);
      this.kernel.remoteWriteNoted();
    }
  }

  /** What stands in the definitions area. */
  definitions(): Definition[] {
    return [...decodeDefinitions(this.loaded.bytes.subarray(DEFINITIONS, DEFINITIONS + this.kernel.definitionsBytes()))];
  }

  /** What TypeScript makes of the labels of a stream that no shard holds. */
  expected(labels: ReadonlyArray<readonly [string, string]>, ref: number): Definition {
    const name = nameOfLabels(this.#tenant, labels);
    const identity = new TextEncoder().encode(identityText(name));
    this.loaded.bytes.set(identity, SCRATCH);
    const at = this.kernel.identityHash(SCRATCH, identity.length);
    return {
      ref,
      partition: partitionOf(name.tenant, name.serviceId),
      flags: flagsOfSeries(name.metricName) | DEFINE_COUNTED | (serviceLabelNumber(labels) << DEFINE_SERVICE_LABEL_SHIFT),
      tenant: 3,
      hash: this.loaded.bytes.slice(at, at + 16),
      identity,
    };
  }
}
