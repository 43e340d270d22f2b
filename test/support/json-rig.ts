// An ingest's JSON decoder over a memory of its own, and what it made of a body in terms that compare: two rigs, one with the kernel's records and one
// without, must agree in all of it.
import { JsonDecoder } from "../../src/actors/engine/json/json-decoder.ts";
import { EngineCounters } from "../../src/actors/engine/report/engine-counters.ts";
import { type Body, readBody } from "../../src/actors/engine/unit/body.ts";
import { LabelIntake } from "../../src/actors/engine/unit/label-intake.ts";
import { StreamDefiner } from "../../src/actors/engine/unit/stream-definer.ts";
import { type BodyAnswer, WorkUnit } from "../../src/actors/engine/unit/work-unit.ts";
import { BodyPort } from "../../src/actors/front/body-port.ts";
import { EngineMemory, ProcessSlots } from "../../src/adapters/shared-memory/engine-memory.ts";
import { ENGINE_SLOTS } from "../../src/core/layout/counters.ts";
import { STATUS_DONE, STATUS_ODD_BODY } from "../../src/core/layout/kernel-status.ts";
import { PROCESS_LENGTH_BYTES, STAGING, STAGING_BYTES } from "../../src/core/layout/memory-map.ts";
import { DEFINE_COUNTED, ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../src/core/layout/row-frame.ts";
import { BODY_JSON_BATCH, BODY_JSON_SINGLE } from "../../src/core/protocol/body-kind.ts";
import type { IngestExports } from "../../src/domain/kernel/ingest-kernel.ts";
import { FieldExclusions } from "../../src/domain/series/field-exclusions.ts";
import { decodeDefinitions } from "./encoded-definitions.ts";
import { loadKernel } from "./kernel.ts";
import { placeBody } from "./placed-body.ts";

const ENGINES = 2;
/** The wall clock of every body. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);

/** What one body led to. */
export interface Intake {
  readonly answer: BodyAnswer;
  /** Rows by destination, in order: stream with its flags, time, the value's bits. */
  readonly rows: string[][];
  /** Dead letters and records, in order. */
  readonly frames: string[];
  readonly counters: number[];
  readonly units: number;
}

export interface JsonRigOptions {
  /** Without it every record goes through JSON.parse. */
  readonly kernelReads: boolean;
  readonly seriesLimit?: number;
}

export class JsonRig {
  readonly kernel: IngestExports;
  /** Records that the kernel handed over, and bodies that it did not take, since the start. */
  handedOver = 0;
  oddBodies = 0;
  readonly #memory: EngineMemory;
  readonly #port: BodyPort;
  readonly #unit: WorkUnit;
  readonly #decoder: JsonDecoder;
  readonly #streams = new Map<number, string>();
  #admissions = 0;

  constructor({ kernelReads, seriesLimit = 1_000_000 }: JsonRigOptions) {
    const loaded = loadKernel<IngestExports>();
    const memory = new EngineMemory(loaded.memory);
    this.#memory = memory;
    this.kernel = this.#watched(loaded.kernel, kernelReads);
    this.#port = new BodyPort(memory, () => ++this.#admissions);
    this.#unit = new WorkUnit(memory, this.kernel, ENGINES);
    const memories = [memory, new EngineMemory(loadKernel<IngestExports>().memory)];
    const processSlots = new ProcessSlots(new SharedArrayBuffer(PROCESS_LENGTH_BYTES));
    this.#decoder = new JsonDecoder({
      logs: { count: () => undefined },
      labels: new LabelIntake(new FieldExclusions("")),
      memory,
      kernel: this.kernel,
      definer: new StreamDefiner(
        { engine: 0, engines: ENGINES, seriesLimit, convertsCounters: true },
        { memory, memories, processSlots, kernel: this.kernel },
      ),
      counters: new EngineCounters(memory),
      exclusions: new FieldExclusions(""),
      tenantName: (index) => `tenant ${index}`,
      requestId: (admission) => `0000001-${admission.toString(16).padStart(13, "0")}`,
    });
  }

  #watched(kernel: IngestExports, kernelReads: boolean): IngestExports {
    return {
      ...kernel,
      jsonRecordsBegin: (...body) => {
        const records = kernelReads ? kernel.jsonRecordsBegin(...body) : STATUS_ODD_BODY;
        if (records === STATUS_ODD_BODY) this.oddBodies++;
        return records;
      },
      jsonRecordsStep: () => {
        const status = kernel.jsonRecordsStep();
        if (status !== STATUS_DONE) this.handedOver++;
        return status;
      },
    };
  }

  /** Decodes a body as a unit of its own. */
  take(bytes: Uint8Array, { batch = true, idempotencyKey = "", wallMs = NOW_MS, tenant = 0 } = {}): Intake {
    const body = this.#place(bytes, batch ? BODY_JSON_BATCH : BODY_JSON_SINGLE, idempotencyKey, wallMs, tenant);
    const unit = this.#unit;
    const rows = Array.from({ length: ENGINES }, (): string[] => []);
    const frames: string[] = [];
    for (let units = 1; ; units++) {
      this.kernel.stagingReset(ENGINES);
      unit.begin(body.admission, body.wallMs, body.arrivalMs);
      const answer = units === 1 ? this.#decoder.begin(body, unit) : this.#decoder.resume({ ...body }, unit);
      unit.gather();
      for (let engine = 0; engine < ENGINES; engine++) this.#learn(engine);
      rows.forEach((some, engine) => {
        some.push(...this.#rows(engine));
      });
      frames.push(...unit.opaqueFrames.map(({ frame, payload }) => `${frame} ${Buffer.from(payload).toString()}`));
      unit.committed();
      if (answer !== undefined) return { answer, rows, frames, counters: [...this.#memory.counters(ENGINE_SLOTS)], units };
    }
  }

  #place(bytes: Uint8Array, kind: number, idempotencyKey: string, wallMs: number, tenant: number): Body {
    const at = this.#admissions;
    placeBody(this.#port, { bytes, kind, tenant, idempotencyKey, wallMs });
    return readBody(this.#memory, at);
  }

  #learn(engine: number): void {
    for (const frame of this.#unit.definitionFrames(engine, Number.POSITIVE_INFINITY)) {
      for (const { ref, flags, tenant, partition, identity } of decodeDefinitions(frame)) {
        const name = Buffer.from(identity).toString();
        this.#streams.set(ref, `${tenant} ${partition} ${flags & ~DEFINE_COUNTED} ${name}`);
      }
    }
  }

  #rows(engine: number): string[] {
    const { view } = this.#memory;
    const rows: string[] = [];
    const from = STAGING + engine * STAGING_BYTES;
    for (let at = from; at < from + this.kernel.stagedBytes(engine); at += ROW_BYTES) {
      const stream = this.#streams.get(view.getUint32(at + ROW_REF, true));
      if (stream === undefined) throw new Error("a row has no stream");
      rows.push(`${stream} ${view.getUint32(at + ROW_OFFSET, true)} ${view.getBigUint64(at + ROW_VALUE, true).toString(16)}`);
    }
    return rows;
  }
}
