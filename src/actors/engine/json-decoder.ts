// Decodes JSON bodies (single record and batch) into the unit of work: rows for values, frames for records and dead letters.
// The kernel checks the body and stages the records of usual form whose stream it knows; the others, and bodies it cannot vouch for, go through
// JSON.parse and judgeRecord, which is also the meaning of what the kernel does. Sketch: 0.15 us a record there, 3 us here.
import type { EngineMemory } from "../../adapters/runtime/engine-memory.ts";
import { formatRfc3339 } from "../../core/base/rfc3339.ts";
import {
  BATCH_RECORDS_MAX,
  IDENTITY_BYTES_MAX,
  JSON_DEPTH_MAX,
  TIMESTAMP_AGE_MS_MAX,
  TIMESTAMP_FUTURE_MS_MAX,
} from "../../core/config/limits.ts";
import type { RecordType, ValidationReason } from "../../core/layout/counters.ts";
import { STATUS_DONE, STATUS_ODD_BODY, STATUS_ODD_RECORD, STATUS_UNKNOWN_STREAM } from "../../core/layout/kernel-status.ts";
import { SCRATCH, SCRATCH_BYTES } from "../../core/layout/memory-map.ts";
import { BODY_JSON_BATCH, BODY_JSON_SINGLE } from "../../core/protocol/body-kind.ts";
import { decodeJson, holdsHalfCharacter } from "../../domain/codec/json-body.ts";
import type { LaneExports } from "../../domain/kernel/lane-kernel.ts";
import { fillPowersOfFive } from "../../domain/kernel/powers-of-five.ts";
import { severityOfAttributes } from "../../domain/logs/severity.ts";
import { flagsOfRecord } from "../../domain/series/classification.ts";
import type { FieldExclusions } from "../../domain/series/field-exclusions.ts";
import { canonicalAttributes, environmentOf, nameOfRecord } from "../../domain/series/stream-identity.ts";
import { isRefusal, judgeRecord, type Refusal, type TelemetryRecord } from "../../domain/series/telemetry-record.ts";
import { type Body, decodeJsonBody, refusedAnswer } from "./body.ts";
import { contentHash } from "./content-hash.ts";
import type { EngineCounters } from "./engine-counters.ts";
import type { LabelIntake } from "./label-intake.ts";
import type { LogSink } from "./logs/log-sink.ts";
import type { StreamDefiner } from "./stream-definer.ts";
import type { BodyAnswer, WorkUnit } from "./work-unit.ts";

/** Types whose value is scored as a sample; slo has a detector of its own. */
const SCORED: ReadonlySet<RecordType> = new Set<RecordType>(["metric", "trace", "profile"]);
/** Types that are kept as records; a metric is kept as a sample. */
const KEPT: ReadonlySet<RecordType> = new Set<RecordType>(["log", "trace", "event", "profile", "slo"]);
/** Canonical attributes of a record: 64 names and values of ordinary length are far below. */
const ATTRIBUTES_BYTES_MAX = 64 * 1024;

const HALF_CHARACTER: Refusal = {
  reason: "invalid_record",
  field: null,
  message: "the record holds half of a surrogate pair, such as \\ud800 alone, which is no character; send whole characters",
  type: "metric",
};

export interface JsonDecoderDependencies {
  readonly memory: EngineMemory;
  readonly kernel: LaneExports;
  readonly definer: StreamDefiner;
  /** Counts the logs that are kept. */
  readonly logs: Pick<LogSink, "count">;
  readonly labels: LabelIntake;
  readonly counters: EngineCounters;
  readonly exclusions: FieldExclusions;
  readonly tenantName: (index: number) => string;
  readonly requestId: (admission: number) => string;
}

interface Failure {
  readonly index: number;
  readonly refusal: Refusal;
  readonly payload: unknown;
}

/** A record as it stands in its body. */
interface PlacedRecord {
  readonly value: unknown;
  readonly index: number;
  /** It may hold half of a surrogate pair. */
  readonly halves: boolean;
  /** The kernel looked for its stream by its spelling last, in vain. */
  readonly isSpelled: boolean;
}

/** What became of the records of one body that were decoded here. */
class Outcome {
  readonly failures: Failure[] = [];
  readonly accepted = new Map<RecordType, number>();

  accept(type: RecordType, count: number): void {
    this.accepted.set(type, (this.accepted.get(type) ?? 0) + count);
  }
}

const QUEUED_ONE: BodyAnswer = { status: 200, body: '{"status":"ok","queued":1}' };

/** Decodes JSON bodies for one lane. */
export class JsonDecoder {
  readonly #dependencies: JsonDecoderDependencies;

  constructor(dependencies: JsonDecoderDependencies) {
    this.#dependencies = dependencies;
    fillPowersOfFive(dependencies.memory.view);
  }

  /** Takes a whole body into the unit and says how to answer it. A body holds at most BATCH_RECORDS_MAX records, so it always fits a fresh unit. */
  decode(body: Body, unit: WorkUnit): BodyAnswer {
    const { kernel, counters } = this.#dependencies;
    const records = kernel.jsonRecordsBegin(
      body.pointer,
      body.bytes,
      body.kind === BODY_JSON_BATCH ? 1 : 0,
      body.tenant,
      unit.baseMs,
      body.wallMs - TIMESTAMP_AGE_MS_MAX,
      body.wallMs + TIMESTAMP_FUTURE_MS_MAX,
      BATCH_RECORDS_MAX,
      JSON_DEPTH_MAX,
    );
    if (records === STATUS_ODD_BODY) return this.#decodeWhole(body, unit);
    counters.batch(records);
    const status = kernel.jsonRecordsStep();
    if (status !== STATUS_DONE) return this.#answer(body, records, this.#takeOthers(status, records, body, unit));
    counters.accepted("metric", records);
    unit.accept(this.#dependencies.tenantName(body.tenant), body.wallMs, "metric", records);
    return body.kind === BODY_JSON_BATCH ? batchAnswer(records, []) : QUEUED_ONE;
  }

  /** Decodes the records that the kernel hands over, from the one it stopped at with `status`, and has it stage the others. */
  #takeOthers(status: number, records: number, body: Body, unit: WorkUnit): Outcome {
    const { kernel } = this.#dependencies;
    const outcome = new Outcome();
    let others = 0;
    for (; status !== STATUS_DONE; status = kernel.jsonRecordsStep()) {
      if (status !== STATUS_ODD_RECORD && status !== STATUS_UNKNOWN_STREAM) throw new Error(`JSON records: unexpected status ${status}`);
      others++;
      this.#takeRecord(this.#recordAtHand(status === STATUS_UNKNOWN_STREAM), body, unit, outcome);
    }
    outcome.accept("metric", records - others);
    this.#settle(outcome, body, unit);
    return outcome;
  }

  #recordAtHand(isSpelled: boolean): PlacedRecord {
    const { kernel, memory } = this.#dependencies;
    const text = memory.slice(kernel.jsonRecordPointer(), kernel.jsonRecordBytes()).toString("utf8");
    const decoded = decodeJson(text);
    if (!decoded.ok) throw new Error(`JSON records: the kernel took for a record what is none: ${decoded.message}`);
    return { value: decoded.value, halves: decoded.halves, index: kernel.jsonRecordIndex(), isSpelled };
  }

  /** Decodes a body without the kernel: one that it cannot read, to say what is wrong with it. */
  #decodeWhole(body: Body, unit: WorkUnit): BodyAnswer {
    const { counters } = this.#dependencies;
    const parsed = this.#parse(body);
    if (!parsed.ok) {
      counters.rejected("metric", parsed.code, 1);
      return refusedAnswer(parsed, this.#dependencies.requestId(body.admission));
    }
    const records = body.kind === BODY_JSON_BATCH ? (parsed.value as unknown[]) : [parsed.value];
    counters.batch(records.length);
    const outcome = new Outcome();
    records.forEach((value, index) => {
      this.#takeRecord({ value, index, halves: parsed.halves, isSpelled: false }, body, unit, outcome);
    });
    this.#settle(outcome, body, unit);
    return this.#answer(body, records.length, outcome);
  }

  #answer(body: Body, records: number, { failures }: Outcome): BodyAnswer {
    if (body.kind === BODY_JSON_BATCH) return batchAnswer(records - failures.length, failures);
    const [failure] = failures;
    if (failure === undefined) return QUEUED_ONE;
    const { reason: code, message, field } = failure.refusal;
    const refusal = field === null ? { code, message } : { code, message, field };
    return refusedAnswer(refusal, this.#dependencies.requestId(body.admission));
  }

  #parse(body: Body): { ok: true; value: unknown; halves: boolean } | { ok: false; code: ValidationReason; message: string } {
    const bad = (message: string) => ({ ok: false, code: "invalid_json", message }) as const;
    if (body.bytes === 0) return bad("the body is empty; send a JSON telemetry record");
    const decoded = decodeJsonBody(body, this.#dependencies);
    if (!decoded.ok) return bad(decoded.message);
    if (body.kind !== BODY_JSON_BATCH) {
      return Array.isArray(decoded.value) ? bad("one record is expected here, got an array; send it to /api/v1/telemetry/batch") : decoded;
    }
    if (!Array.isArray(decoded.value)) return bad("a batch must be a JSON array of telemetry records");
    if (decoded.value.length <= BATCH_RECORDS_MAX) return decoded;
    const message = `a batch may have ${BATCH_RECORDS_MAX} records, got ${decoded.value.length}; split it`;
    return { ok: false, code: "batch_too_large", message };
  }

  #takeRecord(placed: PlacedRecord, body: Body, unit: WorkUnit, outcome: Outcome): void {
    const { index } = placed;
    const value = this.#dependencies.exclusions.strip(placed.value);
    const judged = placed.halves && holdsHalfCharacter(value) ? HALF_CHARACTER : judgeRecord(value, body.wallMs);
    const refusal = isRefusal(judged) ? judged : this.#take(judged, placed, body, unit);
    if (refusal !== undefined) outcome.failures.push({ index, refusal, payload: value });
    else if (!isRefusal(judged)) outcome.accept(judged.type, 1);
  }

  /** Stores a record that was judged, as if it had come in the body; or says why not. */
  store(record: TelemetryRecord, index: number, body: Body, unit: WorkUnit): Refusal | undefined {
    return this.#take(record, { value: null, index, halves: false, isSpelled: false }, body, unit);
  }

  /** Counts the body's records and buries the refused ones, behind all that was accepted. */
  #settle(outcome: Outcome, body: Body, unit: WorkUnit): void {
    const { counters, tenantName } = this.#dependencies;
    for (const [type, count] of outcome.accepted) {
      counters.accepted(type, count);
      unit.accept(tenantName(body.tenant), body.wallMs, type, count);
    }
    for (const failure of outcome.failures) this.#bury(failure, body, unit);
  }

  #take(record: TelemetryRecord, { index, isSpelled }: PlacedRecord, body: Body, unit: WorkUnit): Refusal | undefined {
    if (SCORED.has(record.type)) {
      const flags = flagsOfRecord(record.type, record.metricName, record.attributes);
      const refusal = isSpelled ? this.#define(record, flags, body, unit) : this.#stage(record, flags, body, unit);
      if (refusal !== undefined) return refusal;
    }
    if (!KEPT.has(record.type)) return undefined;
    const refusal = this.#keep(record, index, body, unit);
    if (refusal === undefined && !SCORED.has(record.type)) this.#tellLabels(record, body, unit);
    return refusal;
  }

  #stage(record: TelemetryRecord, flags: number, body: Body, unit: WorkUnit): Refusal | undefined {
    const { kernel, memory } = this.#dependencies;
    const { serviceId, metricName } = record;
    const key = `${flags},${serviceId.length},${metricName.length},${serviceId}${metricName}${JSON.stringify(record.attributes)}`;
    if (key.length > IDENTITY_BYTES_MAX * 2) return tooLong(record, "attributes", IDENTITY_BYTES_MAX);
    const bytes = memory.slice(SCRATCH, SCRATCH_BYTES / 2).write(key);
    if (kernel.laneLookup(SCRATCH, bytes, body.tenant) !== 1) return this.#define(record, flags, body, unit);
    kernel.stageRow(kernel.foundDestination(), kernel.foundRef(), record.timeMs - unit.baseMs, record.value);
    return undefined;
  }

  /** Stages a record whose stream the lane table does not hold under the key that was looked up last. */
  #define(record: TelemetryRecord, flags: number, body: Body, unit: WorkUnit): Refusal | undefined {
    const { kernel } = this.#dependencies;
    const { serviceId, metricName } = record;
    const name = nameOfRecord(this.#dependencies.tenantName(body.tenant), serviceId, metricName, record.attributes);
    const defined = this.#dependencies.definer.define(unit, body.tenant, name, flags);
    if (defined === "identity_too_long") return tooLong(record, "attributes", IDENTITY_BYTES_MAX);
    if (defined === "series_limit_exceeded") {
      const message = "this tenant has as many streams as SERIES_LIMIT allows; a new one is refused, existing ones go on";
      return { reason: "series_limit_exceeded", field: null, message, type: record.type };
    }
    if (kernel.laneInsert(defined.ref, defined.destination, defined.partition) !== 0) {
      kernel.laneTableClear();
      kernel.laneInsert(defined.ref, defined.destination, defined.partition);
    }
    kernel.stageRow(defined.destination, defined.ref, record.timeMs - unit.baseMs, record.value);
    this.#tellLabels(record, body, unit);
    return undefined;
  }

  /** A record has no resource: its attributes say what one would. Those of a replay may be days old. */
  #tellLabels({ serviceId, attributes }: TelemetryRecord, body: Body, unit: WorkUnit): void {
    if (body.kind !== BODY_JSON_SINGLE && body.kind !== BODY_JSON_BATCH) return;
    this.#dependencies.labels.takeAttributes(this.#dependencies.tenantName(body.tenant), serviceId, attributes, unit);
  }

  #keep(record: TelemetryRecord, index: number, body: Body, unit: WorkUnit): Refusal | undefined {
    const attributes = canonicalAttributes(record.attributes);
    if (attributes.length > ATTRIBUTES_BYTES_MAX) return tooLong(record, "attributes", ATTRIBUTES_BYTES_MAX);
    const tenant = this.#dependencies.tenantName(body.tenant);
    const content = [tenant, record.serviceId, record.type, record.metricName, record.value, record.body, record.traceId, record.timeMs];
    const natural =
      body.idempotencyKey === "" ? JSON.stringify(content) + attributes : JSON.stringify([tenant, body.idempotencyKey, index]);
    const { serviceId, timeMs } = record;
    const id = contentHash(natural, this.#dependencies);
    const environment = environmentOf(record.attributes);
    unit.addRecord({ tenant, id, timeMs, receivedMs: body.wallMs, environment, record: storedRecord(record) });
    if (record.type === "log") {
      const severity = severityOfAttributes(record.attributes);
      this.#dependencies.logs.count(tenant, { serviceId, environment, timeMs, severity, body: record.body, id }, unit);
    }
    return undefined;
  }

  #bury(failure: Failure, body: Body, unit: WorkUnit): void {
    const { refusal, index } = failure;
    this.#dependencies.counters.rejected(refusal.type, refusal.reason, 1);
    unit.addDeadLetter({
      tenant: this.#dependencies.tenantName(body.tenant),
      id: `${this.#dependencies.requestId(body.admission).replace("-", "")}${index.toString(16).padStart(12, "0")}`,
      reason: refusal.reason,
      field: refusal.field,
      message: refusal.message,
      topic: "json",
      receivedMs: body.wallMs,
      payload: failure.payload,
    });
  }
}

function tooLong(record: TelemetryRecord, field: string, most: number): Refusal {
  const message = `${field} of this record take more than ${most} bytes together; send fewer or shorter ones`;
  return { reason: "field_too_long", field, message, type: record.type };
}

/** The record as lists show it: the fields of section 2.1, those that are present. */
function storedRecord(record: TelemetryRecord): Record<string, unknown> {
  const valued = record.metricName !== "";
  return {
    service_id: record.serviceId,
    type: record.type,
    ...(valued ? { metric_name: record.metricName, value: record.value } : { body: record.body }),
    ...(record.traceId === "" ? {} : { trace_id: record.traceId }),
    timestamp: formatRfc3339(record.timeMs),
    attributes: record.attributes,
  };
}

function batchAnswer(queued: number, failures: readonly Failure[]): BodyAnswer {
  if (failures.length === 0) return { status: 200, body: `{"status":"ok","queued":${queued},"failed":0,"failures":[]}` };
  const shown = failures.map(({ index, refusal }) => ({
    index,
    error: refusal.reason,
    message: refusal.message,
    ...(refusal.field === null ? {} : { field: refusal.field }),
  }));
  return { status: 200, body: JSON.stringify({ status: "partial", queued, failed: failures.length, failures: shown }) };
}
