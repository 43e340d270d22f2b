// Decodes remote-write 1.0 bodies with the lane kernel: it walks the protobuf and stages rows; this side defines new streams and buries rejects.
import type { EngineMemory } from "../../adapters/runtime/engine-memory.ts";
import { formatRfc3339 } from "../../core/base/rfc3339.ts";
import { isLongerThan } from "../../core/base/utf8.ts";
import {
  ATTRIBUTES_MAX,
  DECOMPRESSED_BYTES_MAX,
  NAME_BYTES_MAX,
  TIMESTAMP_AGE_MS_MAX,
  TIMESTAMP_FUTURE_MS_MAX,
  VALUE_BYTES_MAX,
  WORK_ROWS_MAX,
} from "../../core/config/limits.ts";
import type { ValidationReason } from "../../core/layout/counters.ts";
import {
  REJECT_BYTES,
  REJECT_CODE,
  REJECT_INVALID_VALUE,
  REJECT_LABELS,
  REJECT_LABELS_BYTES,
  REJECT_TIME,
  REJECT_TOO_OLD,
  REJECT_VALUE,
} from "../../core/layout/kernel-event.ts";
import {
  STATUS_ALLOWANCE_SPENT,
  STATUS_ASK_OWNER,
  STATUS_BAD_LABELS,
  STATUS_DEFINITIONS_FULL,
  STATUS_DONE,
  STATUS_OK,
  STATUS_REJECTS_FULL,
  STATUS_ROWS_FULL,
  STATUS_TABLE_FULL,
  STATUS_TOO_LARGE,
  STATUS_UNKNOWN_STREAM,
} from "../../core/layout/kernel-status.ts";
import { DECOMPRESSED, REJECTS } from "../../core/layout/memory-map.ts";
import { type LaneExports, parseLabelSpan } from "../../domain/kernel/lane-kernel.ts";
import { flagsOfSeries } from "../../domain/series/classification.ts";
import { nameOfLabels } from "../../domain/series/stream-identity.ts";
import { type Body, refusedAnswer } from "./body.ts";
import type { EngineCounters } from "./engine-counters.ts";
import type { StreamDefiner } from "./stream-definer.ts";
import type { BodyAnswer, WorkUnit } from "./work-unit.ts";

type Labels = ReadonlyArray<readonly [string, string]>;

export interface RemoteWriteDecoderDependencies {
  readonly memory: EngineMemory;
  readonly kernel: LaneExports;
  readonly definer: StreamDefiner;
  readonly counters: EngineCounters;
  readonly tenantName: (index: number) => string;
  readonly requestId: (admission: number) => string;
}

/** How far a body is: `answer` when it is at its end, undefined when the unit must be committed first. */
export type Progress = BodyAnswer | undefined;

/** Decodes remote-write bodies for one lane; a large body takes several units. */
export class RemoteWriteDecoder {
  readonly #dependencies: RemoteWriteDecoderDependencies;
  #samples = 0;
  #refused = 0;
  #first: SampleProblem | undefined;

  constructor(dependencies: RemoteWriteDecoderDependencies) {
    this.#dependencies = dependencies;
  }

  /** Starts a body; an answer at once means that it cannot be decoded and that nothing of it is stored. */
  begin(body: Body, unit: WorkUnit): Progress {
    const { kernel, counters } = this.#dependencies;
    const bytes = kernel.snappyDecompress(body.pointer, body.bytes, DECOMPRESSED, DECOMPRESSED_BYTES_MAX);
    if (bytes < 0) return this.#undecodable(body, bytes);
    const least = body.wallMs - TIMESTAMP_AGE_MS_MAX;
    const most = body.wallMs + TIMESTAMP_FUTURE_MS_MAX;
    const samples = kernel.remoteWriteBegin(DECOMPRESSED, bytes, body.tenant, unit.baseMs, least, most, WORK_ROWS_MAX);
    if (samples < 0) return this.#undecodable(body, samples);
    counters.add("decompressedBytes", bytes);
    counters.batch(samples);
    this.#samples = samples;
    this.#refused = 0;
    this.#first = undefined;
    return this.resume(body, unit);
  }

  /** Goes on with the body into a fresh unit, which must have the base of the one it began in. */
  resume(body: Body, unit: WorkUnit): Progress {
    const { definer, tenantName } = this.#dependencies;
    definer.beginSeries(body.tenant, tenantName(body.tenant));
    const progress = this.#walk(body, unit);
    definer.endSeries();
    return progress;
  }

  #walk(body: Body, unit: WorkUnit): Progress {
    const { kernel, definer } = this.#dependencies;
    for (;;) {
      const step = kernel.remoteWriteStep();
      const status = step === STATUS_ASK_OWNER ? definer.settleSeries() : step;
      if (status === STATUS_OK) continue;
      if (status === STATUS_DONE) return this.#finish(body, unit);
      if (status === STATUS_UNKNOWN_STREAM) this.#resolve(body, unit);
      else if (status === STATUS_ALLOWANCE_SPENT) {
        if (!definer.allowSeries()) this.#resolve(body, unit);
      } else if (status === STATUS_BAD_LABELS)
        this.#skip(body, unit, "missing_metric_name", "a series has no labels; it needs __name__ at least", []);
      else if (status === STATUS_ROWS_FULL || status === STATUS_REJECTS_FULL || status === STATUS_DEFINITIONS_FULL) {
        this.#buryRejects(body, unit);
        return undefined;
      } else throw new Error(`remote-write walk: unexpected status ${status}`);
    }
  }

  #undecodable(body: Body, status: number): BodyAnswer {
    const requestId = this.#dependencies.requestId(body.admission);
    if (status === STATUS_TOO_LARGE) {
      this.#dependencies.counters.rejected("metric", "payload_too_large", 1);
      const message = `the body says that it decompresses to more than ${DECOMPRESSED_BYTES_MAX} bytes; send smaller requests`;
      return refusedAnswer({ code: "payload_too_large", message }, requestId);
    }
    this.#dependencies.counters.rejected("metric", "invalid_protobuf", 1);
    const message = "the body is not a snappy block holding a WriteRequest of remote-write 1.0; nothing of it was stored";
    return refusedAnswer({ code: "invalid_protobuf", message }, requestId);
  }

  #finish(body: Body, unit: WorkUnit): BodyAnswer {
    this.#buryRejects(body, unit);
    this.#dependencies.counters.accepted("metric", this.#samples - this.#refused);
    if (this.#first === undefined || this.#refused === 0) return { status: 204, body: null };
    const { reason: code, message: first } = this.#first;
    const message = `${this.#refused} of ${this.#samples} samples were refused, the others are stored; the first: ${code}: ${first}`;
    return refusedAnswer({ code, message }, this.#dependencies.requestId(body.admission));
  }

  #resolve(body: Body, unit: WorkUnit): void {
    const { kernel, memory, definer } = this.#dependencies;
    const at = kernel.unknownPointer();
    const labels = parseLabelSpan(memory.bytes.slice(at, at + kernel.unknownBytes()));
    const problem = labels === undefined ? LABELS_NOT_UTF8 : labelProblem(labels);
    if (labels === undefined || problem !== undefined) {
      this.#skip(body, unit, (problem as SampleProblem).reason, (problem as SampleProblem).message, labels ?? []);
      return;
    }
    const name = nameOfLabels(this.#dependencies.tenantName(body.tenant), labels);
    const defined = definer.define(unit, body.tenant, name, flagsOfSeries(name.metricName));
    if (defined === "identity_too_long") this.#skip(body, unit, "field_too_long", "the labels of a series are too long together", labels);
    else if (defined === "series_limit_exceeded") {
      this.#skip(
        body,
        unit,
        "series_limit_exceeded",
        "this tenant has as many streams as SERIES_LIMIT allows; a new one is refused",
        labels,
      );
    } else if (kernel.remoteWriteResolve(defined.ref, defined.destination, defined.partition) === STATUS_TABLE_FULL) {
      kernel.laneTableClear();
      kernel.remoteWriteResolve(defined.ref, defined.destination, defined.partition);
    }
  }

  /** Leaves out the series that the walk stands at; its samples count as refused. */
  #skip(body: Body, unit: WorkUnit, reason: ValidationReason, message: string, labels: Labels): void {
    const samples = this.#dependencies.kernel.remoteWriteSkipSeries();
    this.#refuse(body, unit, samples, reason, message, { labels: Object.fromEntries(labels), samples });
  }

  #refuse(body: Body, unit: WorkUnit, samples: number, reason: ValidationReason, message: string, payload: unknown): void {
    this.#first ??= { reason, message };
    const number = this.#refused;
    this.#refused += samples;
    this.#dependencies.counters.rejected("metric", reason, samples);
    const id = `${this.#dependencies.requestId(body.admission).replace("-", "")}${number.toString(16).padStart(12, "0")}`;
    const tenant = this.#dependencies.tenantName(body.tenant);
    unit.addDeadLetter({ tenant, id, reason, field: null, message, topic: "remote_write", receivedMs: body.wallMs, payload });
  }

  #buryRejects(body: Body, unit: WorkUnit): void {
    const { kernel, memory } = this.#dependencies;
    const view = memory.view;
    for (let i = 0; i < kernel.rejectsCount(); i++) {
      const at = REJECTS + i * REJECT_BYTES;
      const labelsAt = view.getUint32(at + REJECT_LABELS, true);
      const labels = parseLabelSpan(memory.bytes.slice(labelsAt, labelsAt + view.getUint32(at + REJECT_LABELS_BYTES, true))) ?? [];
      const timeMs = view.getFloat64(at + REJECT_TIME, true);
      const value = view.getFloat64(at + REJECT_VALUE, true);
      const { reason, message } = describeReject(view.getUint32(at + REJECT_CODE, true), labels, timeMs, value);
      const payload = { labels: Object.fromEntries(labels), value: Number.isFinite(value) ? value : String(value), timestamp: timeMs };
      this.#refuse(body, unit, 1, reason, message, payload);
    }
    kernel.rejectsReset();
  }
}

interface SampleProblem {
  readonly reason: ValidationReason;
  readonly message: string;
}

const LABELS_NOT_UTF8: SampleProblem = { reason: "invalid_attributes", message: "the labels of a series are not valid UTF-8" };

function labelProblem(labels: Labels): SampleProblem | undefined {
  if (labels.length > ATTRIBUTES_MAX + 1) {
    return { reason: "invalid_attributes", message: `a series may have ${ATTRIBUTES_MAX} labels, got ${labels.length}` };
  }
  for (const [name, value] of labels) {
    if (isLongerThan(name, NAME_BYTES_MAX)) return { reason: "field_too_long", message: `a label name may have ${NAME_BYTES_MAX} bytes` };
    if (isLongerThan(value, name === "__name__" ? NAME_BYTES_MAX : VALUE_BYTES_MAX)) {
      return { reason: "field_too_long", message: `label ${name.slice(0, 60)} is longer than ${VALUE_BYTES_MAX} bytes` };
    }
  }
  const named = labels.some(([name, value]) => name === "__name__" && value !== "");
  return named ? undefined : { reason: "missing_metric_name", message: "a series has no __name__ label" };
}

function describeReject(code: number, labels: Labels, timeMs: number, value: number): SampleProblem {
  const name = labels.find(([label]) => label === "__name__")?.[1] ?? "a series";
  const time = Number.isSafeInteger(timeMs) ? formatRfc3339(timeMs) : String(timeMs);
  if (code === REJECT_INVALID_VALUE)
    return { reason: "invalid_value", message: `${name} at ${time} has the value ${value}, which is not finite` };
  if (code === REJECT_TOO_OLD) return { reason: "timestamp_too_old", message: `${name} at ${time} is more than 24 h in the past` };
  return { reason: "timestamp_in_future", message: `${name} at ${time} is more than 10 minutes in the future` };
}
