// One engine's decoder of remote-write over a kernel of its own, and what it made of a body: rows by stream, dead letters, answer.
import { compressSync } from "snappy";
import { makeBodyDecoders } from "../../src/actors/engine/ingest/body-decoders.ts";
import { EngineCounters } from "../../src/actors/engine/report/engine-counters.ts";
import { readBody } from "../../src/actors/engine/unit/body.ts";
import { type BodyAnswer, WorkUnit } from "../../src/actors/engine/unit/work-unit.ts";
import { BodyPort } from "../../src/actors/front/body-port.ts";
import { EngineMemory, ProcessSlots } from "../../src/adapters/shared-memory/engine-memory.ts";
import { PROCESS_LENGTH_BYTES, STAGING } from "../../src/core/layout/memory-map.ts";
import { ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../src/core/layout/row-frame.ts";
import { BODY_REMOTE_WRITE_1, BODY_REMOTE_WRITE_2 } from "../../src/core/protocol/body-kind.ts";
import { FRAME_DEAD_LETTER } from "../../src/core/protocol/coordinator-frame.ts";
import type { IngestExports } from "../../src/domain/kernel/ingest-kernel.ts";
import { MetadataBook } from "../../src/domain/series/metadata-book.ts";
import { decodeDefinitions } from "./encoded-definitions.ts";
import { loadKernel } from "./kernel.ts";
import { placeBody } from "./placed-body.ts";

/** What became of one body. */
export interface RemoteWriteIntake {
  readonly answer: BodyAnswer;
  /** Identity, time and value of each row. */
  readonly rows: ReadonlyArray<readonly [identity: string, timeMs: number, value: number]>;
  readonly letters: ReadonlyArray<Record<string, unknown>>;
  /** Bytes of messages for shards: native histograms. */
  readonly messageBytes: number;
}

export class RemoteWriteRig {
  readonly #memory: EngineMemory;
  readonly #kernel: IngestExports;
  readonly #port: BodyPort;
  readonly #unit: WorkUnit;
  readonly #streams = new Map<number, string>();
  readonly #decoder;
  #admissions = 0;
  #wallMs = 0;

  /** `replicaLabels`: REPLICA_LABELS. */
  constructor(replicaLabels = "") {
    const { kernel, memory: raw } = loadKernel<IngestExports>();
    const memory = new EngineMemory(raw);
    this.#memory = memory;
    this.#kernel = kernel;
    this.#port = new BodyPort(memory, () => ++this.#admissions);
    this.#unit = new WorkUnit(memory, kernel, 1);
    const dependencies = {
      memory,
      memories: [memory],
      processSlots: new ProcessSlots(new SharedArrayBuffer(PROCESS_LENGTH_BYTES)),
      kernel,
      counters: new EngineCounters(memory),
      metadata: new MetadataBook(),
      scopes: undefined as never,
      wallMs: () => this.#wallMs,
      tenantName: (index: number) => `tenant ${index}`,
      tenantIndex: () => 0,
      requestId: (admission: number) => `0000001-${admission.toString(16).padStart(13, "0")}`,
    };
    this.#decoder = makeBodyDecoders({ engine: 0, engines: 1, seriesLimit: 1_000_000, replicaLabels }, dependencies).make.remoteWrite();
  }

  /** Decodes a body, which is not compressed yet. */
  take(bytes: Uint8Array, version: 1 | 2, wallMs: number): RemoteWriteIntake {
    this.#wallMs = wallMs;
    const at = this.#admissions;
    const kind = version === 1 ? BODY_REMOTE_WRITE_1 : BODY_REMOTE_WRITE_2;
    placeBody(this.#port, { bytes: compressSync(Buffer.from(bytes)), kind, tenant: 0, idempotencyKey: "", wallMs });
    const body = readBody(this.#memory, at);
    const unit = this.#unit;
    const rows: Array<readonly [string, number, number]> = [];
    const letters: Record<string, unknown>[] = [];
    let messageBytes = 0;
    for (let units = 1; ; units++) {
      this.#kernel.stagingReset(1);
      unit.begin(body.admission, body.wallMs, body.arrivalMs);
      const answer = units === 1 ? this.#decoder.begin(body, unit) : this.#decoder.resume(body, unit);
      for (const frame of unit.definitionFrames(0, Number.POSITIVE_INFINITY))
        for (const { ref, identity } of decodeDefinitions(frame)) this.#streams.set(ref, Buffer.from(identity).toString());
      rows.push(...this.#rows());
      for (const { frame, payload } of unit.opaqueFrames)
        if (frame === FRAME_DEAD_LETTER) letters.push(JSON.parse(Buffer.from(payload).toString()));
      for (const [, section] of unit.messageFrames(0, Number.POSITIVE_INFINITY)) messageBytes += section.byteLength;
      unit.committed();
      if (answer !== undefined) return { answer, rows, letters, messageBytes };
    }
  }

  *#rows(): Generator<readonly [string, number, number]> {
    const { view } = this.#memory;
    for (let at = STAGING; at < STAGING + this.#kernel.stagedBytes(0); at += ROW_BYTES) {
      const identity = this.#streams.get(view.getUint32(at + ROW_REF, true)) ?? "?";
      yield [identity, this.#unit.baseMs + view.getUint32(at + ROW_OFFSET, true), view.getFloat64(at + ROW_VALUE, true)];
    }
  }
}
