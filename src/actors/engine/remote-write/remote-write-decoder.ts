// Decodes remote-write bodies, 1.0 and 2.0, with the ingest kernel: it walks the protobuf and stages rows; this side defines new streams, takes metadata and
// native histograms, decides between replicas, and buries rejects.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import {
  DECOMPRESSED_BYTES_MAX,
  NAME_BYTES_MAX,
  TIMESTAMP_AGE_MS_MAX,
  TIMESTAMP_FUTURE_MS_MAX,
  WORK_ROWS_MAX,
} from "../../../core/config/limits.ts";
import type { ValidationReason } from "../../../core/layout/counters.ts";
import {
  REJECT_BYTES,
  REJECT_CODE,
  REJECT_LABELS,
  REJECT_LABELS_BYTES,
  REJECT_TIME,
  REJECT_VALUE,
} from "../../../core/layout/kernel-event.ts";
import {
  STATUS_ALLOWANCE_SPENT,
  STATUS_ASK_OWNER,
  STATUS_ASK_REPLICA,
  STATUS_BAD_LABELS,
  STATUS_DEFINITIONS_FULL,
  STATUS_DONE,
  STATUS_METADATA,
  STATUS_OK,
  STATUS_REJECTS_FULL,
  STATUS_ROWS_FULL,
  STATUS_TABLE_FULL,
  STATUS_TOO_LARGE,
  STATUS_UNKNOWN_STREAM,
} from "../../../core/layout/kernel-status.ts";
import {
  BODY_PADDING_BYTES,
  DECOMPRESSED,
  REJECTS,
  RETAINED_PARSE,
  RETAINED_PARSE_BYTES,
  SERIES_INDEX,
  SMALL_DECOMPRESSED,
  SYMBOL_ENTRY_BYTES,
  SYMBOL_INDEX,
  SYMBOLS_MAX,
} from "../../../core/layout/memory-map.ts";
import { DEFINE_SERVICE_LABEL_SHIFT } from "../../../core/layout/row-frame.ts";
import { FLAG_SETTLED } from "../../../core/layout/stream-record.ts";
import { BODY_REMOTE_WRITE_2 } from "../../../core/protocol/body-kind.ts";
import { type IngestExports, parseLabelSpan } from "../../../domain/kernel/ingest-kernel.ts";
import { resolveLabelRefs } from "../../../domain/kernel/label-refs.ts";
import type { MetadataMessage } from "../../../domain/remote-write/metadata-messages.ts";
import { metricTypeOf } from "../../../domain/remote-write/metadata-messages.ts";
import {
  describeReject,
  flawProblem,
  LABELS_NOT_UTF8,
  type Labels,
  labelProblem,
  type SampleProblem,
} from "../../../domain/remote-write/sample-problems.ts";
import { DeadLetterGroups } from "../../../domain/series/dead-letter-groups.ts";
import type { MetadataBook } from "../../../domain/series/metadata-book.ts";
import { typeByFamily } from "../../../domain/series/metric-metadata.ts";
import { REPLICA_LABELS, replicaSource } from "../../../domain/series/replica-labels.ts";
import { nameOfLabels, serviceLabelNumber } from "../../../domain/series/stream-identity.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import { type Body, isLarge, refusedAnswer } from "../unit/body.ts";
import type { BodyDecoder } from "../unit/body-decoder.ts";
import type { LabelIntake } from "../unit/label-intake.ts";
import { NotFiniteSamples } from "../unit/not-finite-samples.ts";
import type { RetainedPosition } from "../unit/retained-positions.ts";
import type { StreamDefiner } from "../unit/stream-definer.ts";
import type { BodyAnswer, WorkUnit } from "../unit/work-unit.ts";
import { type DistributionTaker, HistogramIntake } from "./histogram-intake.ts";
import type { MetadataIntake, TakenMessages } from "./metadata-intake.ts";
import type { ReplicaSources } from "./replica-sources.ts";

export interface RemoteWriteDecoderDependencies {
  readonly memory: EngineMemory;
  readonly kernel: IngestExports;
  readonly definer: StreamDefiner;
  readonly counters: EngineCounters;
  readonly sources: ReplicaSources;
  /** Labels that tell replicas apart. */
  readonly replicaLabels: ReadonlySet<string>;
  readonly metadata: MetadataBook;
  readonly intake: MetadataIntake;
  readonly labels: LabelIntake;
  /** Takes native histograms. */
  readonly takeDistribution: DistributionTaker;
  readonly tenantName: (index: number) => string;
  readonly tenantIndex: (name: string) => number;
  readonly requestId: (admission: number) => string;
}

/** Progress of a body: `answer` when it is at its end, undefined when the unit must be committed first. */
export type Progress = BodyAnswer | undefined;

/** A longer body is decompressed in one turn and checked in the next, at 1 GB/s and more. */
const LONG_BYTES = 4 * 1024 * 1024;
/** Metadata that are refused, as their dead letter shows them. */
const METADATA_SHOWN = 10;
const NO_MESSAGES: TakenMessages["byName"] = new Map();
const NO_SYMBOL = new Uint8Array(0);
const NO_LABELS = "a series has no labels; it needs __name__ at least";
const BAD_REFS = "labels_refs of a series are absent, odd in number, more than 1,024, or name symbols that the request has not";

/** Decodes remote-write bodies for one engine; a large body takes several units. */
export class RemoteWriteDecoder implements BodyDecoder {
  readonly takesCopy = true;
  readonly #dependencies: RemoteWriteDecoderDependencies;
  readonly #metadata: MetadataIntake;
  readonly #histograms: HistogramIntake;
  /** Where the body lies decompressed, and whether it has been checked. */
  #pointer = 0;
  #bytes = 0;
  #isBegun = false;
  #isVersion2 = false;
  #samples = 0;
  /** Native histograms of the body, and those of them that were taken. */
  #histogramsSent = 0;
  #histogramsTaken = 0;
  #refused = 0;
  #metadataRefused = 0;
  /** What the metadata of the body itself say: of its own series they know more than what others said. */
  #byName: TakenMessages["byName"] = NO_MESSAGES;
  #deadLetterNumber = 0;
  #letters = new DeadLetterGroups();
  #first: SampleProblem | undefined;
  readonly #notFinite: NotFiniteSamples;

  constructor(dependencies: RemoteWriteDecoderDependencies) {
    this.#dependencies = dependencies;
    this.#metadata = dependencies.intake;
    this.#histograms = new HistogramIntake(dependencies.takeDistribution);
    this.#notFinite = new NotFiniteSamples("remote_write", dependencies);
  }

  /** Starts a body; an answer at once means that it cannot be decoded and that nothing of it is stored. */
  begin(body: Body, unit: WorkUnit): Progress {
    const { kernel, counters } = this.#dependencies;
    this.#metadata.settle();
    const out = isLarge(body) ? DECOMPRESSED : SMALL_DECOMPRESSED;
    const bytes = kernel.snappyDecompress(body.pointer, body.bytes, out, DECOMPRESSED_BYTES_MAX);
    if (bytes < 0) return this.#undecodable(body, bytes);
    counters.add("decompressedBytes", bytes);
    this.#pointer = out;
    this.#bytes = bytes;
    this.#isBegun = false;
    return bytes > LONG_BYTES ? undefined : this.#begin(body, unit);
  }

  /** Checks the body, which is decompressed, and begins the walk. */
  #begin(body: Body, unit: WorkUnit): Progress {
    const { kernel, counters } = this.#dependencies;
    this.#isBegun = true;
    const least = body.wallMs - TIMESTAMP_AGE_MS_MAX;
    const most = body.wallMs + TIMESTAMP_FUTURE_MS_MAX;
    this.#isVersion2 = body.kind === BODY_REMOTE_WRITE_2;
    const begin = this.#isVersion2 ? kernel.remoteWrite2Begin : kernel.remoteWriteBegin;
    const samples = begin(this.#pointer, this.#bytes, body.tenant, unit.baseMs, least, most, WORK_ROWS_MAX);
    if (samples < 0) return this.#undecodable(body, samples);
    this.#samples = samples;
    this.#histogramsSent = this.#isVersion2 ? kernel.histogramCount2() : kernel.histogramCount();
    this.#histogramsTaken = 0;
    this.#refused = 0;
    this.#metadataRefused = 0;
    this.#deadLetterNumber = 0;
    this.#letters = new DeadLetterGroups();
    this.#first = undefined;
    this.#notFinite.begin();
    counters.batch(samples + this.#histogramsSent);
    this.#byName = NO_MESSAGES;
    if (!this.#isVersion2 && kernel.metadataCount() > 0) this.#takeMetadata(body, unit);
    if (this.#histogramsSent > 0) this.#takeHistograms(body, unit);
    return this.resume(body, unit);
  }

  #takeMetadata(body: Body, unit: WorkUnit): void {
    const { refused, byName } = this.#metadata.takeMessages(this.#copy(), body, unit);
    this.#byName = byName;
    this.#refuseMetadata(refused, body, unit);
  }

  /** One dead letter for all of a body. */
  #refuseMetadata(refused: readonly MetadataMessage[], body: Body, unit: WorkUnit): void {
    this.#metadataRefused = refused.length;
    const problem = refused[0] && flawProblem(refused[0].metricName, "the name of a metric in metadata");
    if (problem === undefined) return;
    const metrics = refused.slice(0, METADATA_SHOWN).map(({ metricName }) => metricName.slice(0, NAME_BYTES_MAX));
    this.#refuse(body, unit, 0, problem.reason, problem.message, { metadata_of: metrics, refused: refused.length });
  }

  #copy(): Uint8Array {
    return this.#dependencies.memory.bytes.slice(this.#pointer, this.#pointer + this.#bytes);
  }

  #takeHistograms(body: Body, unit: WorkUnit): void {
    const tenant = this.#dependencies.tenantName(body.tenant);
    this.#histogramsTaken = this.#histograms.take(this.#copy(), this.#isVersion2 ? 2 : 1, {
      tenant,
      unit,
      wallMs: body.wallMs,
      replicaLabels: this.#dependencies.replicaLabels,
      count: this.#histogramsSent,
      labelsOf: (span) => this.#labelsOf(span),
      isTaken: (source) => this.#isTaken(this.#dependencies.sources.numberOf(source), body.wallMs),
      refuse: (count, { reason, message }, payload) => this.#refuse(body, unit, count, reason, message, payload),
      keepOut: (labels, message, payload) => this.#notFinite.keepOut(labels, message, payload, body, unit, this.#letters),
    });
  }

  /** Goes on with the body into a fresh unit, which must have the base of the one it began in. */
  resume(body: Body, unit: WorkUnit): Progress {
    if (!this.#isBegun) return this.#begin(body, unit);
    const { definer, tenantName, replicaLabels } = this.#dependencies;
    // The kernel knows the usual names of replicas only, and no types but those by name: with others it defines no series.
    if (this.#byName.size > 0) definer.leaveSeries();
    else if (replicaLabels === REPLICA_LABELS) definer.beginSeries(body.tenant, tenantName(body.tenant));
    const progress = this.#parse(body, unit);
    definer.endSeries();
    return progress;
  }

  /** Notes where the body stands behind a unit, so that others may use the kernel; answers which places of its memory are to be as they are when it goes on. */
  keep(body: Body): readonly RetainedPosition[] {
    const { kernel } = this.#dependencies;
    const decompressed = { pointer: this.#pointer, bytes: this.#bytes + BODY_PADDING_BYTES, isConstant: true };
    const places: RetainedPosition[] = isLarge(body) ? [] : [decompressed];
    if (!this.#isBegun) return places;
    const bytes = kernel.remoteWriteSuspend() - SERIES_INDEX;
    places.push(
      { pointer: SERIES_INDEX, bytes, isConstant: false },
      { pointer: RETAINED_PARSE, bytes: RETAINED_PARSE_BYTES, isConstant: false },
    );
    if (this.#isVersion2) places.push({ pointer: SYMBOL_INDEX, bytes: kernel.symbolCount() * SYMBOL_ENTRY_BYTES, isConstant: true });
    return places;
  }

  /** They are again; then resume(). */
  goOn(): void {
    if (this.#isBegun) this.#dependencies.kernel.remoteWriteGoOn();
  }

  #parse(body: Body, unit: WorkUnit): Progress {
    const { kernel, definer } = this.#dependencies;
    for (;;) {
      const step = kernel.remoteWriteStep();
      const status = step === STATUS_ASK_OWNER ? definer.settleSeries() : step;
      if (status === STATUS_OK) continue;
      if (status === STATUS_DONE) return this.#finish(body, unit);
      if (status === STATUS_UNKNOWN_STREAM) this.#resolve(body, unit);
      else if (status === STATUS_METADATA) {
        this.#metadata.takeSeries(body, unit);
        continue;
      } else if (status === STATUS_ASK_REPLICA) {
        kernel.remoteWriteReplica(this.#isTaken(kernel.replicaSource(), body.wallMs) ? 1 : 0);
        continue;
      } else if (status === STATUS_ALLOWANCE_SPENT) {
        if (definer.allowSeries()) continue;
        this.#resolve(body, unit);
      } else if (status === STATUS_BAD_LABELS) this.#skip(body, unit, "missing_metric_name", this.#isVersion2 ? BAD_REFS : NO_LABELS, []);
      else if (status !== STATUS_ROWS_FULL && status !== STATUS_REJECTS_FULL && status !== STATUS_DEFINITIONS_FULL)
        throw new Error(`remote-write walk: unexpected status ${status}`);
      else return this.#pause(body, unit);
      if (!unit.mayWork) return this.#pause(body, unit);
    }
  }

  /** The unit is full. */
  #pause(body: Body, unit: WorkUnit): undefined {
    this.#buryRejects(body, unit);
    return undefined;
  }

  /** Whether samples of a replica are taken; those of number 0 cannot be distinguished from others and are. */
  #isTaken(source: number, nowMs: number): boolean {
    const choice = source === 0 ? "untracked" : this.#dependencies.sources.choose(source, nowMs);
    if (choice === "takes-over") this.#dependencies.counters.add("replicaTakeovers", 1);
    if (choice === "untracked") this.#dependencies.counters.add("replicasUntracked", 1);
    return choice !== "passed-over";
  }

  #undecodable(body: Body, status: number): BodyAnswer {
    const requestId = this.#dependencies.requestId(body.admission);
    const version = body.kind === BODY_REMOTE_WRITE_2 ? "a Request of remote-write 2.0" : "a WriteRequest of remote-write 1.0";
    if (status === STATUS_TOO_LARGE) {
      this.#dependencies.counters.rejected("metric", "payload_too_large", 1);
      const message = `the body decompresses to more than ${DECOMPRESSED_BYTES_MAX} bytes, or has more than ${SYMBOLS_MAX} symbols; send smaller requests`;
      return refusedAnswer({ code: "payload_too_large", message }, requestId);
    }
    this.#dependencies.counters.rejected("metric", "invalid_protobuf", 1);
    const message = `the body is not a snappy block holding ${version}; nothing of it was stored`;
    return refusedAnswer({ code: "invalid_protobuf", message }, requestId);
  }

  #finish(body: Body, unit: WorkUnit): Progress {
    this.#buryRejects(body, unit);
    if (!unit.writeDeadLetters(this.#letters)) return undefined;
    this.#metadata.settle();
    const { kernel, counters, requestId, tenantName } = this.#dependencies;
    const sent = this.#samples + this.#histogramsSent;
    const unobserved = kernel.remoteWriteUnobserved();
    const skipped = kernel.remoteWriteSkipped();
    counters.add("samplesUnobserved", unobserved);
    counters.add("samplesPassedOver", skipped);
    const accepted = sent - this.#refused - skipped - this.#notFinite.count;
    counters.accepted("metric", accepted);
    unit.accept(tenantName(body.tenant), body.wallMs, "metric", accepted);
    const answer = this.#answer(sent, requestId(body.admission));
    // What is no observation, and what another replica has sent, is done with: the sender must not take it for lost.
    const samplesWritten = this.#samples - (this.#refused - (this.#histogramsSent - this.#histogramsTaken));
    return this.#isVersion2 ? { ...answer, written: [samplesWritten, this.#histogramsTaken, 0] } : answer;
  }

  #answer(sent: number, requestId: string): BodyAnswer {
    if (this.#first === undefined || this.#refused + this.#metadataRefused === 0) return { status: 204, body: null };
    const { reason: code, message: first } = this.#first;
    const samples = this.#refused === 0 && sent === 0 ? "" : `${this.#refused} of ${sent} samples`;
    const metadata = this.#metadataRefused === 0 ? "" : `metadata of ${this.#metadataRefused} metrics`;
    const what = [samples, metadata].filter((part) => part !== "").join(" and ");
    const message = `${what} were refused, the others are stored; the first: ${code}: ${first}`;
    return refusedAnswer({ code, message }, requestId);
  }

  #resolve(body: Body, unit: WorkUnit): void {
    const { kernel, memory, definer, replicaLabels } = this.#dependencies;
    const at = kernel.unknownPointer();
    const labels = parseLabelSpan(memory.bytes.slice(at, at + kernel.unknownBytes()));
    const problem = labels === undefined ? LABELS_NOT_UTF8 : labelProblem(labels);
    if (labels === undefined || problem !== undefined) {
      this.#skip(body, unit, (problem as SampleProblem).reason, (problem as SampleProblem).message, labels ?? []);
      return;
    }
    const tenant = this.#dependencies.tenantName(body.tenant);
    const name = nameOfLabels(tenant, labels, replicaLabels);
    const replica = replicaSource(tenant, name.serviceId, labels, replicaLabels);
    const source = replica === undefined ? 0 : this.#dependencies.sources.numberOf(replica);
    const defined = definer.define(
      unit,
      body.tenant,
      name,
      this.#flagsOf(tenant, name.metricName, body) | (serviceLabelNumber(labels) << DEFINE_SERVICE_LABEL_SHIFT),
    );
    if (defined === "identity_too_long")
      this.#skip(body, unit, "invalid_attributes", "the labels of a series are too long together", labels);
    else if (defined === "series_limit_exceeded") {
      this.#skip(
        body,
        unit,
        "series_limit_exceeded",
        "this tenant has as many streams as SERIES_LIMIT allows; a new one is refused",
        labels,
      );
    } else {
      this.#dependencies.labels.takeSeries(tenant, name.serviceId, name.metricName, name.attributes, unit);
      if (kernel.remoteWriteResolve(defined.ref, defined.destination, defined.partition, source) === STATUS_TABLE_FULL) {
        kernel.keyTableClear();
        kernel.remoteWriteResolve(defined.ref, defined.destination, defined.partition, source);
      }
    }
  }

  /** Flags of the series at hand: by its own type, that of its body's metadata, or what is known of its name. */
  #flagsOf(tenant: string, metricName: string, { sender }: Body): number {
    const { kernel, metadata } = this.#dependencies;
    if (this.#isVersion2) return metadata.flagsOf(tenant, metricName, metricTypeOf(kernel.metadataType()));
    const type = typeByFamily(metricName, (name) => this.#byName.get(name)?.type);
    return type === undefined
      ? metadata.flagsOf(tenant, metricName, "unknown", sender)
      : metadata.flagsOf(tenant, metricName, type) | FLAG_SETTLED;
  }

  /** Leaves out the series that the walk stands at; its samples count as refused. */
  #skip(body: Body, unit: WorkUnit, reason: ValidationReason, message: string, labels: Labels): void {
    const samples = this.#dependencies.kernel.remoteWriteSkipSeries();
    this.#refuse(body, unit, samples, reason, message, { labels: Object.fromEntries(labels), samples });
  }

  #refuse(body: Body, unit: WorkUnit, samples: number, reason: ValidationReason, message: string, payload: unknown): void {
    unit.worked(0);
    this.#first ??= { reason, message };
    const number = this.#deadLetterNumber++;
    this.#refused += samples;
    this.#dependencies.counters.rejected("metric", reason, samples);
    const id = `${this.#dependencies.requestId(body.admission).replace("-", "")}${number.toString(16).padStart(12, "0")}`;
    const tenant = this.#dependencies.tenantName(body.tenant);
    const { wallMs: receivedMs, isAnonymous: anonymous } = body;
    unit.addDeadLetter({ tenant, id, reason, field: null, message, topic: "remote_write", receivedMs, anonymous, payload }, this.#letters);
  }

  /** Labels of a span of the body: label fields of 1.0, references to symbols of 2.0. */
  #labelsOf(span: Uint8Array): Labels | undefined {
    const { kernel, memory } = this.#dependencies;
    if (!this.#isVersion2) return parseLabelSpan(span);
    const count = kernel.symbolCount();
    return resolveLabelRefs(span, (number) => {
      if (number >= count) return NO_SYMBOL;
      const at = kernel.symbolPointer(number);
      return memory.bytes.slice(at, at + kernel.symbolBytes(number));
    });
  }

  #buryRejects(body: Body, unit: WorkUnit): void {
    const { kernel, memory } = this.#dependencies;
    const view = memory.view;
    for (let i = 0; i < kernel.rejectsCount(); i++) {
      const at = REJECTS + i * REJECT_BYTES;
      const labelsAt = view.getUint32(at + REJECT_LABELS, true);
      const labels = this.#labelsOf(memory.bytes.slice(labelsAt, labelsAt + view.getUint32(at + REJECT_LABELS_BYTES, true))) ?? [];
      const timeMs = view.getFloat64(at + REJECT_TIME, true);
      const value = view.getFloat64(at + REJECT_VALUE, true);
      const code = view.getUint32(at + REJECT_CODE, true);
      const { reason, message } = describeReject(code, labels, timeMs);
      const payload = { labels: Object.fromEntries(labels), value: Number.isFinite(value) ? value : String(value), timestamp: timeMs };
      this.#refuse(body, unit, 1, reason, message, payload);
    }
    kernel.rejectsReset();
  }
}
