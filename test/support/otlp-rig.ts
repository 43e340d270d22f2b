// One engine's OTLP decoder over a kernel of its own: takes bodies, also such that need several units, and says what it staged.
import { LogIntake } from "../../src/actors/engine/logs/log-intake.ts";
import { OtlpDecoder } from "../../src/actors/engine/otlp/otlp-decoder.ts";
import { EngineCounters } from "../../src/actors/engine/report/engine-counters.ts";
import { SpanIntake } from "../../src/actors/engine/spans/span-intake.ts";
import { type Body, readBody } from "../../src/actors/engine/unit/body.ts";
import { LabelIntake } from "../../src/actors/engine/unit/label-intake.ts";
import { MetricDescriptions } from "../../src/actors/engine/unit/metric-descriptions.ts";
import { MetricScopes } from "../../src/actors/engine/unit/metric-scopes.ts";
import { StreamDefiner } from "../../src/actors/engine/unit/stream-definer.ts";
import { type BodyAnswer, WorkUnit } from "../../src/actors/engine/unit/work-unit.ts";
import { BodyPort } from "../../src/actors/front/body-port.ts";
import { EngineMemory, ProcessSlots } from "../../src/adapters/shared-memory/engine-memory.ts";
import { METRIC_SCOPES_MAX } from "../../src/core/config/metric-limits.ts";
import { ShareLedger } from "../../src/core/fairness/share-ledger.ts";
import { STATUS_ODD_BODY } from "../../src/core/layout/kernel-status.ts";
import { PROCESS_LENGTH_BYTES, SPAN_ROWS, STAGING, STAGING_BYTES } from "../../src/core/layout/memory-map.ts";
import {
  DEFINE_COUNTED,
  ROW_BYTES,
  ROW_OFFSET,
  ROW_REF,
  ROW_VALUE,
  SECTION_DISTRIBUTION,
  SECTION_SPANS,
  START_MARKER_HIGH,
} from "../../src/core/layout/row-frame.ts";
import { SPAN_ROW_BYTES, SPAN_ROW_FLAGS, SPAN_ROW_ODD } from "../../src/core/layout/span-row.ts";
import { FRAME_RECORD, FRAME_SPAN_BLOCK } from "../../src/core/protocol/coordinator-frame.ts";
import { type OtlpEncoding, type OtlpSignal, otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { messagesOf } from "../../src/domain/codec/shard-message.ts";
import { readPointMessage } from "../../src/domain/distribution/point-message.ts";
import type { IngestExports } from "../../src/domain/kernel/ingest-kernel.ts";
import { FieldExclusions } from "../../src/domain/series/field-exclusions.ts";
import { MetadataBook } from "../../src/domain/series/metadata-book.ts";
import { JOIN_CHILD, JoinMessageReader } from "../../src/domain/trace/join-message.ts";
import { readSpanBlockHead, spansOfBlock } from "../../src/domain/trace/span-block.ts";
import { spanRecord, spanRecordId, spanTimeMs } from "../../src/domain/trace/span-record.ts";
import { MESSAGE_WINDOW, WindowMessageReader } from "../../src/domain/window/window-message.ts";
import { decodeDefinitions } from "./encoded-definitions.ts";
import { loadKernel } from "./kernel.ts";
import { placeBody } from "./placed-body.ts";

const ENGINES = 2;
/** Of the bodies' arrival. */
export const OTLP_NOW_MS = 1_795_220_410_000;

/** What became of one body. */
export interface OtlpIntake {
  readonly answer: BodyAnswer;
  /** Rows in the order of their destination: "flags identity time value", with values as bits; "... start ms" for start markers. */
  readonly rows: string[];
  /** Records and dead letters, in order. */
  readonly frames: Array<{ readonly frame: number; readonly envelope: Record<string, unknown> }>;
  /** Identities of the histograms and summaries that were taken, in order. */
  readonly distributions: string[];
  /** Bytes of messages for shards: histograms, summaries and spans. */
  readonly messageBytes: number;
  /** What the messages on spans say, in order: one line for each span that is counted, and one for each that is joined. */
  readonly spanLines: string[];
  readonly units: number;
}

export interface OtlpRigOptions {
  /** Without it every body of metrics or traces goes through the TypeScript decoder. */
  readonly kernelWalks?: boolean;
  readonly seriesLimit?: number;
  readonly convertsCounters?: boolean;
  /** LOG_FIELD_EXCLUSIONS. */
  readonly exclusions?: string;
  /** OTEL_SERVICE_NAMESPACE is prefix. */
  readonly prefixesServices?: boolean;
  /** Words of the process; its own where they are not given. */
  readonly processSlots?: ProcessSlots;
}

export class OtlpRig {
  readonly kernel: IngestExports;
  readonly memory: EngineMemory;
  readonly scopes: MetricScopes;
  /** Bodies that the kernel walked. */
  walks = 0;
  /** Spans that it read itself. */
  walkedSpans = 0;
  readonly #port: BodyPort;
  readonly #unit: WorkUnit;
  readonly #decoder: OtlpDecoder;
  readonly #streams = new Map<number, string>();
  #admissions = 0;

  constructor({
    kernelWalks = true,
    seriesLimit = 1_000_000,
    convertsCounters = true,
    exclusions = "",
    prefixesServices = false,
    processSlots = new ProcessSlots(new SharedArrayBuffer(PROCESS_LENGTH_BYTES)),
  }: OtlpRigOptions = {}) {
    const excluded = new FieldExclusions(exclusions);
    const loaded = loadKernel<IngestExports>();
    const memory = new EngineMemory(loaded.memory);
    const begin: IngestExports["otlpMetricsBegin"] = (...body) => {
      const points = loaded.kernel.otlpMetricsBegin(...body);
      if (points >= 0 && kernelWalks) this.walks++;
      return kernelWalks || points < 0 ? points : STATUS_ODD_BODY;
    };
    const beginTraces: IngestExports["otlpTracesBegin"] = (...body) => {
      const status = loaded.kernel.otlpTracesBegin(...body);
      return kernelWalks || status < 0 ? status : STATUS_ODD_BODY;
    };
    const stepTraces = () => {
      const rows = loaded.kernel.otlpTracesStep();
      for (let i = 0; i < rows; i++)
        if ((memory.view.getUint32(SPAN_ROWS + i * SPAN_ROW_BYTES + SPAN_ROW_FLAGS, true) & SPAN_ROW_ODD) === 0) this.walkedSpans++;
      return rows;
    };
    const kernel: IngestExports = { ...loaded.kernel, otlpMetricsBegin: begin, otlpTracesBegin: beginTraces, otlpTracesStep: stepTraces };
    this.kernel = kernel;
    this.memory = memory;
    this.#port = new BodyPort(memory, () => ++this.#admissions);
    this.#unit = new WorkUnit(memory, kernel, ENGINES);
    const memories = [memory, new EngineMemory(loadKernel<IngestExports>().memory)];
    const definer = new StreamDefiner(
      { engine: 0, engines: ENGINES, seriesLimit, convertsCounters },
      { memory, memories, processSlots, kernel },
    );
    const tenantName = (index: number) => `tenant ${index}`;
    this.scopes = new MetricScopes({
      memory,
      kernel,
      processSlots,
      shares: ShareLedger.alone(METRIC_SCOPES_MAX),
      tenantName,
      tenantIndex: (name) => Number(name.slice(7)),
      tenants: () => 1,
    });
    this.#decoder = new OtlpDecoder(
      { convertsCounters, prefixesServices },
      {
        memory,
        kernel,
        definer,
        counters: new EngineCounters(memory),
        exclusions: excluded,
        tenantName,
        scopes: this.scopes,
        spans: new SpanIntake(excluded),
        logs: new LogIntake(excluded),
        labels: new LabelIntake(excluded),
        descriptions: new MetricDescriptions(new MetadataBook(), new EngineCounters(memory)),
        requestId: (admission) => `0000001-${admission.toString(16).padStart(13, "0")}`,
      },
    );
  }

  /** Decodes a body, as many units as that takes; `quiet` leaves the rows out. */
  take(
    bytes: Uint8Array,
    signal: OtlpSignal,
    encoding: OtlpEncoding,
    { wallMs = OTLP_NOW_MS, idempotencyKey = "", quiet = false } = {},
  ): OtlpIntake {
    const body = this.#place(bytes, otlpBodyKind(signal, encoding), wallMs, idempotencyKey);
    const unit = this.#unit;
    const rows: string[] = [];
    const frames: OtlpIntake["frames"] = [];
    const spanLines: string[] = [];
    const distributions: string[] = [];
    let messageBytes = 0;
    for (let units = 1; ; units++) {
      this.kernel.stagingReset(ENGINES);
      unit.begin(body.admission, body.wallMs, body.arrivalMs);
      const answer = units === 1 ? this.#decoder.begin(body, unit) : this.#decoder.resume({ ...body }, unit);
      if (!quiet) {
        for (let engine = 0; engine < ENGINES; engine++) this.#learn(engine);
        for (let engine = 0; engine < ENGINES; engine++) rows.push(...this.#rows(engine));
      }
      unit.gather();
      for (const { frame, payload } of unit.opaqueFrames) frames.push(...framesOf(frame, payload));
      for (let engine = 0; engine < ENGINES; engine++) {
        for (const [kind, section] of unit.messageFrames(engine, Number.POSITIVE_INFINITY)) {
          messageBytes += section.byteLength;
          if (kind === SECTION_DISTRIBUTION && !quiet)
            for (const { payload } of messagesOf(section))
              distributions.push(Buffer.from(readPointMessage(payload).identity, "latin1").toString());
          if (kind !== SECTION_SPANS || quiet) continue;
          for (const { partition, payload } of messagesOf(section))
            spanLines.push(...spanLinesOf(payload).map((line) => `${partition} ${line}`));
        }
      }
      unit.committed();
      if (answer !== undefined) return { answer, rows, frames, distributions, messageBytes, spanLines, units };
    }
  }

  #place(bytes: Uint8Array, kind: number, wallMs: number, idempotencyKey: string): Body {
    const at = this.#admissions;
    placeBody(this.#port, { bytes, kind, tenant: 0, idempotencyKey, wallMs });
    return readBody(this.memory, at);
  }

  #learn(engine: number): void {
    for (const frame of this.#unit.definitionFrames(engine, Number.POSITIVE_INFINITY)) {
      for (const { ref, flags, identity } of decodeDefinitions(frame)) {
        this.#streams.set(ref, `${flags & ~DEFINE_COUNTED} ${Buffer.from(identity).toString()}`);
      }
    }
  }

  #rows(engine: number): string[] {
    const { view } = this.memory;
    const from = STAGING + engine * STAGING_BYTES;
    const rows: string[] = [];
    for (let at = from; at < from + this.kernel.stagedBytes(engine); at += ROW_BYTES) {
      const stream = this.#streams.get(view.getUint32(at + ROW_REF, true));
      const time = this.#unit.baseMs + view.getUint32(at + ROW_OFFSET, true);
      const bits = view.getBigUint64(at + ROW_VALUE, true);
      const isStart = bits >> 48n === BigInt(START_MARKER_HIGH);
      rows.push(`${stream} ${time} ${isStart ? `start ${bits & 0xffffffffffffn}` : bits.toString(16)}`);
    }
    return rows;
  }
}

/** A message on spans, whichever numbers it gives to names. */
export function spanLinesOf(payload: Uint8Array): string[] {
  const names: string[] = [];
  const lines: string[] = [];
  if (payload[0] === MESSAGE_WINDOW) {
    const reader = new WindowMessageReader(payload);
    while (reader.next()) {
      if (reader.newName !== undefined) names.push(reader.newName);
      const { service, name, flags, window, amount, high, low } = reader;
      lines.push(JSON.stringify([service, names[name - 1], flags, window, amount, high, low]));
    }
    return lines;
  }
  const reader = new JoinMessageReader(payload);
  while (reader.next()) {
    if (reader.newService !== undefined) names.push(JSON.stringify(reader.newService));
    const { service, flags, high, low, parentHigh, parentLow, minute, microseconds, operation } = reader;
    const parent = (flags & JOIN_CHILD) === 0 ? [] : [parentHigh, parentLow];
    lines.push(JSON.stringify([names[service - 1], flags, high, low, minute, microseconds, operation, ...parent]));
  }
  return lines;
}

/** A frame as an envelope; of a block of spans one for each. */
function framesOf(frame: number, payload: Uint8Array): OtlpIntake["frames"] {
  if (frame !== FRAME_SPAN_BLOCK) return [{ frame, envelope: JSON.parse(Buffer.from(payload).toString()) }];
  const head = readSpanBlockHead(payload);
  return [...spansOfBlock(payload, head)].map((span) => ({
    frame: FRAME_RECORD,
    envelope: {
      tenant: head.tenant,
      id: spanRecordId(span),
      timeMs: spanTimeMs(span),
      receivedMs: head.receivedMs,
      environment: head.environment,
      record: spanRecord(span, head),
    },
  }));
}
