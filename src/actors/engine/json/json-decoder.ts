// Decodes JSON bodies (single record and batch) into the unit of work: rows for values, frames for records and dead letters.
// The kernel checks the body and stages the records of usual form whose stream it knows; the others go through JSON.parse and judgeRecord, one by one, which is
// also the meaning of what the kernel does; a body that is no JSON is parsed only where that is short, to say what is wrong. What takes long goes on in
// further units, so that others have their turn. Sketch: 0.15 us a record there, 3 us here.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { JSON_ELEMENT_BYTES_MAX, JSON_PARSED_BYTES_MAX, JSON_SCANNED_BYTES_MAX } from "../../../core/config/body-limits.ts";
import {
  BATCH_RECORDS_MAX,
  IDENTITY_BYTES_MAX,
  JSON_DEPTH_MAX,
  TIMESTAMP_AGE_MS_MAX,
  TIMESTAMP_FUTURE_MS_MAX,
} from "../../../core/config/limits.ts";
import type { RecordType } from "../../../core/layout/counters.ts";
import { STATUS_DONE, STATUS_ODD_RECORD, STATUS_TOO_LARGE, STATUS_UNKNOWN_STREAM } from "../../../core/layout/kernel-status.ts";
import { SCRATCH, SCRATCH_BYTES } from "../../../core/layout/memory-map.ts";
import { BODY_JSON_BATCH, BODY_JSON_OWN, BODY_JSON_SINGLE, isBatchBody } from "../../../core/protocol/body-kind.ts";
import { formatRfc3339 } from "../../../core/time/rfc3339.ts";
import { decodeJson, holdsHalfCharacter } from "../../../domain/codec/json-body.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import { fillPowersOfFive } from "../../../domain/kernel/powers-of-five.ts";
import { severityOfAttributes } from "../../../domain/logs/severity.ts";
import { flagsOfRecord } from "../../../domain/series/classification.ts";
import { DeadLetterGroups } from "../../../domain/series/dead-letter-groups.ts";
import type { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import { canonicalAttributes, environmentOf, nameOfRecord } from "../../../domain/series/stream-identity.ts";
import { isRefusal, judgeRecord, type Refusal, type TelemetryRecord } from "../../../domain/series/telemetry-record.ts";
import type { LogIntake } from "../logs/log-intake.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import { type Body, decodeJsonBody, refusedAnswer } from "../unit/body.ts";
import type { BodyDecoder } from "../unit/body-decoder.ts";
import { contentHash } from "../unit/content-hash.ts";
import type { LabelIntake } from "../unit/label-intake.ts";
import { RecordIds } from "../unit/record-ids.ts";
import type { RetainedPosition } from "../unit/retained-positions.ts";
import type { StreamDefiner } from "../unit/stream-definer.ts";
import type { BodyAnswer, WorkUnit } from "../unit/work-unit.ts";
import { type BodyProblem, longElement, NO_ARRAY, problemAt, type RecordRun, recordRunsOf, TOO_MANY } from "./record-runs.ts";

/** Types whose value is scored as a sample; slo has a detector of its own. */
const SCORED: ReadonlySet<RecordType> = new Set<RecordType>(["metric", "trace", "profile"]);
/** Types of which equal ones may be several; of the others they are one, as their samples are. */
const COUNTED: ReadonlySet<RecordType> = new Set<RecordType>(["log", "event"]);
/** Types that are kept as records; a metric is kept as a sample. */
const RETAINED_TYPES: ReadonlySet<RecordType> = new Set<RecordType>(["log", "trace", "event", "profile", "slo"]);
/** More letters of one body have a unit of their own: 3 us each. */
const FAILURES_IN_PASSING = 1_000;

const HALF_CHARACTER: Refusal = {
  reason: "invalid_record",
  field: null,
  message: "the record holds half of a surrogate pair, such as \\ud800 alone, which is no character; send whole characters",
  type: "metric",
};

export interface JsonDecoderDependencies {
  readonly memory: EngineMemory;
  readonly kernel: IngestExports;
  readonly definer: StreamDefiner;
  /** Counts the logs that are kept. */
  readonly logs: Pick<LogIntake, "count">;
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
  /** Size of the record as it was sent. */
  readonly bytes: number;
}

/** A record as it stands in its body. */
interface PlacedRecord {
  readonly value: unknown;
  readonly index: number;
  /** It may hold half of a surrogate pair. */
  readonly halves: boolean;
  /** The kernel looked for its stream by its spelling last, in vain. */
  readonly isSpelled: boolean;
  readonly bytes: number;
}

/** Outcome of the records of one body. */
class Outcome {
  readonly failures: Failure[] = [];
  readonly accepted = new Map<RecordType, number>();
  records = 0;
  /** Failures that are among the dead letters already. */
  buried = 0;
  readonly letters = new DeadLetterGroups();

  accept(type: RecordType, count: number): void {
    this.accepted.set(type, (this.accepted.get(type) ?? 0) + count);
  }
}

const QUEUED_ONE: BodyAnswer = { status: 200, body: '{"status":"ok","queued":1}' };

// Forms of what the kernel scans.
const FORM_SINGLE = 0;
const FORM_BATCH = 1;
const FORM_RUN = 2;

/** Decodes JSON bodies for one engine, one at a time. */
export class JsonDecoder implements BodyDecoder {
  readonly takesCopy = false;
  readonly #dependencies: JsonDecoderDependencies;
  #outcome = new Outcome();
  /** The check of a body that takes several turns. */
  #check: Generator<undefined, readonly RecordRun[] | BodyProblem> | undefined;
  /** Records that are still to be taken: checked ones in the body, or decoded ones. */
  #runs: RecordRun[] = [];
  #values: unknown[] = [];
  #halves = false;
  readonly #ids: RecordIds;
  /** Place in the body of the first record that is still to be taken. */
  #first = 0;

  constructor(dependencies: JsonDecoderDependencies) {
    this.#dependencies = dependencies;
    this.#ids = new RecordIds({ ...dependencies, hash: (text) => contentHash(text, dependencies) });
    fillPowersOfFive(dependencies.memory.view);
  }

  /** Starts a body, which is refused as a whole or taken: the answer; undefined when others have their turn first, then resume() with a fresh unit. */
  begin(body: Body, unit: WorkUnit): BodyAnswer | undefined {
    const isBatch = isBatchBody(body.kind);
    if (body.bytes > JSON_SCANNED_BYTES_MAX) return this.#beginLong(body, isBatch);
    const records = this.#scan(body.pointer, body.bytes, isBatch ? FORM_BATCH : FORM_SINGLE, body, unit);
    if (records < 0) return this.#beginOdd(body, unit, records);
    this.#dependencies.counters.batch(records);
    const status = this.#dependencies.kernel.jsonRecordsStep();
    if (status === STATUS_DONE) return this.#answerUsual(records, isBatch, body, unit);
    this.#reset();
    this.#runs.push({ pointer: body.pointer, end: body.pointer + body.bytes, records });
    return this.#takeRun(status, body, unit) ? this.#finish(body, unit) : undefined;
  }

  /** Answer to a body whose records the kernel has staged, all of them. */
  #answerUsual(records: number, isBatch: boolean, body: Body, unit: WorkUnit): BodyAnswer {
    this.#dependencies.counters.accepted("metric", records);
    this.#bill(body, unit, "metric", records);
    return isBatch ? batchAnswer(records, []) : QUEUED_ONE;
  }

  #beginLong(body: Body, isBatch: boolean): BodyAnswer | undefined {
    if (!isBatch) return this.#refuse(body, longElement(0));
    this.#reset();
    this.#check = recordRunsOf(body, this.#dependencies);
    return undefined;
  }

  #beginOdd(body: Body, unit: WorkUnit, status: number): BodyAnswer | undefined {
    this.#reset();
    const problem = status === STATUS_TOO_LARGE ? TOO_MANY : this.#decodeOdd(body, unit);
    if (problem !== undefined) return this.#refuse(body, problem);
    this.#dependencies.counters.batch(this.#values.length);
    return this.resume(body, unit);
  }

  #reset(): void {
    this.#outcome = new Outcome();
    this.#ids.begin();
    this.#runs = [];
    this.#values = [];
    this.#first = 0;
  }

  /** Goes on with the body into a fresh unit, which must have the base of the one it began in. */
  resume(body: Body, unit: WorkUnit): BodyAnswer | undefined {
    if (this.#check !== undefined) {
      const checked = this.#check.next();
      if (checked.done !== true) return undefined;
      this.#check = undefined;
      if ("code" in checked.value) return this.#refuse(body, checked.value);
      this.#runs = [...checked.value];
      this.#dependencies.counters.batch(this.#runs.reduce((sum, { records }) => sum + records, 0));
    }
    for (let run = this.#runs[0]; run !== undefined; run = this.#runs[0]) {
      const records = this.#scan(run.pointer, run.end - run.pointer, FORM_RUN, body, unit);
      if (records !== run.records) throw new Error(`JSON records: a run of ${run.records} is one of ${records} now`);
      if (!this.#takeRun(this.#dependencies.kernel.jsonRecordsStep(), body, unit)) return undefined;
    }
    if (!this.#takeValues(body, unit)) return undefined;
    return this.#finish(body, unit);
  }

  /** Between units the kernel has nothing of a body. */
  keep(): readonly RetainedPosition[] {
    return [];
  }

  /** The body lies `moved` bytes further; then resume(). */
  goOn(moved: number): void {
    if (moved !== 0) this.#runs = this.#runs.map(({ pointer, end, records }) => ({ pointer: pointer + moved, end: end + moved, records }));
  }

  #scan(pointer: number, bytes: number, form: number, body: Body, unit: WorkUnit): number {
    return this.#dependencies.kernel.jsonRecordsBegin(
      pointer,
      bytes,
      form,
      body.tenant,
      unit.baseMs,
      body.wallMs - TIMESTAMP_AGE_MS_MAX,
      body.wallMs + TIMESTAMP_FUTURE_MS_MAX,
      BATCH_RECORDS_MAX,
      JSON_DEPTH_MAX,
    );
  }

  /** Decodes what the kernel hands over of the first run, which it has scanned, and has it stage the others; false when others have their turn first. */
  #takeRun(first: number, body: Body, unit: WorkUnit): boolean {
    const { kernel } = this.#dependencies;
    const outcome = this.#outcome;
    const run = this.#runs[0] as RecordRun;
    let others = 0;
    for (let status = first; status !== STATUS_DONE; status = kernel.jsonRecordsStep()) {
      if (status !== STATUS_ODD_RECORD && status !== STATUS_UNKNOWN_STREAM) throw new Error(`JSON records: unexpected status ${status}`);
      others++;
      this.#takeAtHand(status === STATUS_UNKNOWN_STREAM, body, unit);
      if (unit.mayWork || kernel.jsonRecordNext() === 0) continue;
      const taken = kernel.jsonRecordIndex() + 1;
      outcome.accept("metric", taken - others);
      outcome.records += taken;
      this.#first += taken;
      this.#runs[0] = { pointer: kernel.jsonRecordNext(), end: kernel.jsonRecordsEnd(), records: run.records - taken };
      return false;
    }
    outcome.accept("metric", run.records - others);
    outcome.records += run.records;
    this.#first += run.records;
    this.#runs.shift();
    return unit.mayWork;
  }

  #takeAtHand(isSpelled: boolean, body: Body, unit: WorkUnit): void {
    const { kernel, memory } = this.#dependencies;
    const bytes = kernel.jsonRecordBytes();
    const index = this.#first + kernel.jsonRecordIndex();
    unit.worked(bytes);
    if (bytes > JSON_ELEMENT_BYTES_MAX) {
      this.#outcome.failures.push({
        index,
        bytes,
        refusal: longRecord(bytes),
        payload: { left_out: `the record has ${bytes} bytes as JSON` },
      });
      return;
    }
    const decoded = decodeJson(memory.slice(kernel.jsonRecordPointer(), bytes).toString("utf8"));
    if (!decoded.ok) throw new Error(`JSON records: the kernel took for a record what is none: ${decoded.message}`);
    this.#takeRecord({ value: decoded.value, halves: decoded.halves, index, isSpelled, bytes }, body, unit, this.#outcome);
  }

  /** Decodes a body that the kernel does not take, to say what is wrong with it. */
  #decodeOdd(body: Body, unit: WorkUnit): BodyProblem | undefined {
    if (body.bytes > JSON_PARSED_BYTES_MAX) return problemAt(this.#dependencies.kernel.jsonFailedAt() - body.pointer);
    unit.worked(body.bytes);
    const parsed = this.#parse(body);
    if (!parsed.ok) return parsed;
    this.#values = isBatchBody(body.kind) ? [...(parsed.value as unknown[])] : [parsed.value];
    this.#halves = parsed.halves;
    return undefined;
  }

  #takeValues(body: Body, unit: WorkUnit): boolean {
    for (; this.#first < this.#values.length; this.#first++) {
      if (!unit.mayWork) return false;
      unit.worked(0);
      this.#outcome.records++;
      const value = this.#values[this.#first];
      this.#takeRecord({ value, index: this.#first, halves: this.#halves, isSpelled: false, bytes: 0 }, body, unit, this.#outcome);
    }
    return true;
  }

  #refuse(body: Body, problem: BodyProblem): BodyAnswer {
    this.#dependencies.counters.rejected("metric", problem.code, 1);
    const { code, message } = problem;
    return refusedAnswer({ code, message }, this.#dependencies.requestId(body.admission));
  }

  #answer(body: Body, records: number, { failures }: Outcome): BodyAnswer {
    if (isBatchBody(body.kind)) return batchAnswer(records - failures.length, failures);
    const [failure] = failures;
    if (failure === undefined) return QUEUED_ONE;
    const { reason: code, message, field } = failure.refusal;
    const refusal = field === null ? { code, message } : { code, message, field };
    return refusedAnswer(refusal, this.#dependencies.requestId(body.admission));
  }

  #parse(body: Body): { ok: true; value: unknown; halves: boolean } | ({ ok: false } & BodyProblem) {
    const bad = (message: string) => ({ ok: false, code: "invalid_json", message }) as const;
    if (body.bytes === 0) return bad("the body is empty; send a JSON telemetry record");
    const decoded = decodeJsonBody(body, this.#dependencies);
    if (!decoded.ok) return bad(decoded.message);
    if (!isBatchBody(body.kind)) {
      return Array.isArray(decoded.value) ? bad("one record is expected here, got an array; send it to /api/v1/telemetry/batch") : decoded;
    }
    if (!Array.isArray(decoded.value)) return { ok: false, ...NO_ARRAY };
    return decoded.value.length <= BATCH_RECORDS_MAX ? decoded : { ok: false, ...TOO_MANY };
  }

  #takeRecord(placed: PlacedRecord, body: Body, unit: WorkUnit, outcome: Outcome): void {
    const { index, bytes } = placed;
    const value = this.#dependencies.exclusions.strip(placed.value);
    const judged = placed.halves && holdsHalfCharacter(value) ? HALF_CHARACTER : judgeRecord(value, body.wallMs);
    const refusal = isRefusal(judged) ? judged : this.#take(judged, placed, body, unit);
    if (refusal !== undefined) outcome.failures.push({ index, refusal, payload: value, bytes });
    else if (!isRefusal(judged)) outcome.accept(judged.type, 1);
  }

  /** Stores a record that was judged, as if it had come in a body of its own; or says why not. */
  store(record: TelemetryRecord, index: number, body: Body, unit: WorkUnit): Refusal | undefined {
    this.#ids.begin();
    return this.#take(record, { value: null, index, halves: false, isSpelled: false, bytes: 0 }, body, unit);
  }

  /** Buries what was refused, behind all that was accepted, and counts the body's records; undefined when others have their turn first. */
  #finish(body: Body, unit: WorkUnit): BodyAnswer | undefined {
    const { counters } = this.#dependencies;
    const outcome = this.#outcome;
    const { failures } = outcome;
    if (failures.length > FAILURES_IN_PASSING && outcome.buried === 0 && !unit.isFresh) return undefined;
    for (; outcome.buried < failures.length; outcome.buried++) {
      if (!unit.mayWork) return undefined;
      const failure = failures[outcome.buried] as Failure;
      unit.worked(failure.bytes, 0);
      this.#bury(failure, body, unit);
    }
    if (!unit.writeDeadLetters(outcome.letters)) return undefined;
    for (const [type, count] of outcome.accepted) {
      if (count === 0) continue;
      counters.accepted(type, count);
      this.#bill(body, unit, type, count);
    }
    return this.#answer(body, outcome.records, outcome);
  }

  /** Counts accepted records in the bill of their tenant, unless the server has sent them itself. */
  #bill({ kind, tenant, wallMs }: Body, unit: WorkUnit, type: RecordType, records: number): void {
    if (kind !== BODY_JSON_OWN) unit.accept(this.#dependencies.tenantName(tenant), wallMs, type, records);
  }

  #take(record: TelemetryRecord, { index, isSpelled }: PlacedRecord, body: Body, unit: WorkUnit): Refusal | undefined {
    if (SCORED.has(record.type)) {
      const flags = flagsOfRecord(record.type, record.metricName, record.attributes);
      const refusal = isSpelled ? this.#define(record, flags, body, unit) : this.#stage(record, flags, body, unit);
      if (refusal !== undefined) return refusal;
    }
    if (!RETAINED_TYPES.has(record.type)) return undefined;
    this.#keep(record, index, body, unit);
    if (!SCORED.has(record.type)) this.#reportLabels(record, body, unit);
    return undefined;
  }

  #stage(record: TelemetryRecord, flags: number, body: Body, unit: WorkUnit): Refusal | undefined {
    const { kernel, memory } = this.#dependencies;
    const { serviceId, metricName } = record;
    const key = `${flags},${serviceId.length},${metricName.length},${serviceId}${metricName}${JSON.stringify(record.attributes)}`;
    if (key.length > IDENTITY_BYTES_MAX * 2) return tooLong(record, "attributes", IDENTITY_BYTES_MAX);
    const bytes = memory.slice(SCRATCH, SCRATCH_BYTES / 2).write(key);
    if (kernel.keyLookup(SCRATCH, bytes, body.tenant) !== 1) return this.#define(record, flags, body, unit);
    kernel.stageRow(kernel.foundDestination(), kernel.foundRef(), record.timeMs - unit.baseMs, record.value);
    return undefined;
  }

  /** Stages a record whose stream the ingest table does not hold under the key that was looked up last. */
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
    if (kernel.keyInsert(defined.ref, defined.destination, defined.partition) !== 0) {
      kernel.keyTableClear();
      kernel.keyInsert(defined.ref, defined.destination, defined.partition);
    }
    kernel.stageRow(defined.destination, defined.ref, record.timeMs - unit.baseMs, record.value);
    this.#reportLabels(record, body, unit);
    return undefined;
  }

  /** A record has no resource: its attributes say what one would. Those of a replay may be days old. */
  #reportLabels({ serviceId, attributes }: TelemetryRecord, body: Body, unit: WorkUnit): void {
    if (body.kind !== BODY_JSON_SINGLE && body.kind !== BODY_JSON_BATCH) return;
    this.#dependencies.labels.takeAttributes(this.#dependencies.tenantName(body.tenant), serviceId, attributes, unit);
  }

  #keep(record: TelemetryRecord, index: number, body: Body, unit: WorkUnit): void {
    const attributes = canonicalAttributes(record.attributes);
    const tenant = this.#dependencies.tenantName(body.tenant);
    const { serviceId, type, timeMs } = record;
    const content = [serviceId, type, record.metricName, record.value, record.body, record.traceId, timeMs, record.nanoseconds];
    const id = this.#ids.idOf(body, index, JSON.stringify(content) + attributes, !COUNTED.has(type));
    const environment = environmentOf(record.attributes);
    this.#dependencies.counters.lost(record.loss);
    unit.addRecord({ tenant, id, timeMs, receivedMs: body.wallMs, environment, record: storedRecord(record) });
    if (type === "log") {
      const severity = severityOfAttributes(record.attributes);
      this.#dependencies.logs.count(tenant, { serviceId, environment, timeMs, severity, body: record.body, id }, unit);
    }
  }

  #bury(failure: Failure, body: Body, unit: WorkUnit): void {
    const { refusal, index } = failure;
    this.#dependencies.counters.rejected(refusal.type, refusal.reason, 1);
    const letter = {
      tenant: this.#dependencies.tenantName(body.tenant),
      id: `${this.#dependencies.requestId(body.admission).replace("-", "")}${index.toString(16).padStart(12, "0")}`,
      reason: refusal.reason,
      field: refusal.field,
      message: refusal.message,
      topic: "json",
      receivedMs: body.wallMs,
      anonymous: body.isAnonymous,
      payload: failure.payload,
    };
    unit.addDeadLetter(letter, this.#outcome.letters);
  }
}

function longRecord(bytes: number): Refusal {
  const message = `a record may have ${JSON_ELEMENT_BYTES_MAX} bytes as JSON, got ${bytes}; send a shorter one`;
  return { reason: "field_too_long", field: null, message, type: "metric" };
}

function tooLong(record: TelemetryRecord, field: string, most: number): Refusal {
  const message = `${field} of this record take more than ${most} bytes together; send fewer or shorter ones`;
  return { reason: "invalid_attributes", field, message, type: record.type };
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
