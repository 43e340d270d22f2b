// What became of the items of one OTLP request: counts, dead letters, and the answer.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { ownMember } from "../../../core/collections/own-member.ts";
import type { RecordType } from "../../../core/layout/counters.ts";
import type { OtlpSignal } from "../../../core/protocol/otlp-kind.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import type { ItemRefusal } from "../../../domain/otlp/otlp-items.ts";
import { DeadLetterGroups } from "../../../domain/series/dead-letter-groups.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { Body } from "../unit/body.ts";
import { NotFiniteSamples } from "../unit/not-finite-samples.ts";
import type { BodyAnswer, WorkUnit } from "../unit/work-unit.ts";

/** By the names that protobuf messages have for them. */
const RECORD_FIELDS: Readonly<Record<string, string>> = {
  "service.name": "service_id",
  name: "metric_name",
  timeUnixNano: "timestamp",
  endTimeUnixNano: "timestamp",
  traceId: "trace_id",
  spanId: "attributes.span_id",
  asDouble: "value",
};

/** Record type that a signal's items are counted as. */
const RECORD_TYPE: Readonly<Record<OtlpSignal, RecordType>> = { metrics: "metric", traces: "trace", logs: "log" };
const ITEMS: Readonly<Record<OtlpSignal, string>> = { metrics: "data points", traces: "spans", logs: "log records" };
/** Characters of one payload in the dead letters; what is longer is left out there. */
const PAYLOAD_CHARACTERS_MAX = 64 * 1024;

export interface OtlpOutcomeDependencies {
  readonly memory: EngineMemory;
  readonly kernel: IngestExports;
  readonly counters: EngineCounters;
  readonly tenantName: (index: number) => string;
  readonly requestId: (admission: number) => string;
}

/** Outcome of one request at a time. */
export class OtlpOutcome {
  readonly #dependencies: OtlpOutcomeDependencies;
  readonly #body: Body;
  readonly #signal: OtlpSignal;
  #accepted = 0;
  #refused = 0;
  #first: ItemRefusal | undefined;
  readonly #letters = new DeadLetterGroups();
  readonly #notFinite: NotFiniteSamples;

  constructor(dependencies: OtlpOutcomeDependencies, body: Body, signal: OtlpSignal) {
    this.#dependencies = dependencies;
    this.#body = body;
    this.#signal = signal;
    this.#notFinite = new NotFiniteSamples(`otlp_${signal}`, dependencies);
  }

  accept(items: number): void {
    this.#accepted += items;
  }

  /** Counts an item as refused and buries it; `payload` is it as a telemetry record, so that it can be corrected and sent again. */
  refuse(unit: WorkUnit, refusal: ItemRefusal, payload: unknown): void {
    const { counters, requestId, tenantName } = this.#dependencies;
    const { admission, tenant, wallMs, isAnonymous } = this.#body;
    if (refusal.isExcluded === true) {
      this.#notFinite.keepOut(seriesOf(payload), refusal.message, payload, this.#body, unit, this.#letters);
      return;
    }
    this.#first ??= refusal;
    counters.rejected(RECORD_TYPE[this.#signal], refusal.reason, 1);
    const id = `${requestId(admission).replace("-", "")}${this.#refused.toString(16).padStart(12, "0")}`;
    this.#refused++;
    const topic = `otlp_${this.#signal}`;
    const { reason, message } = refusal;
    const letter = { tenant: tenantName(tenant), id, reason, field: recordField(refusal.field), message, topic, receivedMs: wallMs };
    unit.addDeadLetter({ ...letter, anonymous: isAnonymous, payload: bounded(payload) }, this.#letters);
  }

  /** Counts the request, in the unit that it ends in; the answer's body is for the front to write in the request's encoding (api/otlp-answer.ts): null, or a partial success. Undefined when the unit must be committed first. */
  finish(unit: WorkUnit): BodyAnswer | undefined {
    if (!unit.writeDeadLetters(this.#letters)) return undefined;
    const { counters, tenantName } = this.#dependencies;
    const { tenant, wallMs } = this.#body;
    unit.accept(tenantName(tenant), wallMs, RECORD_TYPE[this.#signal], this.#accepted);
    counters.batch(this.#accepted + this.#refused + this.#notFinite.count);
    counters.accepted(RECORD_TYPE[this.#signal], this.#accepted);
    counters.otlp(this.#signal, this.#accepted, this.#refused);
    if (this.#first === undefined) return { status: 200, body: null };
    const { reason, message: first } = this.#first;
    const total = this.#accepted + this.#refused + this.#notFinite.count;
    const message = `${this.#refused} of ${total} ${ITEMS[this.#signal]} were refused, the others are stored; the first: ${reason}: ${first}`;
    return { status: 200, body: JSON.stringify({ rejected: this.#refused, message }) };
  }
}

/** What of a telemetry record names its series. */
function seriesOf(payload: unknown): unknown {
  const { service_id, metric_name, attributes } = payload as Readonly<Record<string, unknown>>;
  return [service_id, metric_name, attributes];
}

function bounded(payload: unknown): unknown {
  const characters = JSON.stringify(payload)?.length ?? 0;
  return characters <= PAYLOAD_CHARACTERS_MAX ? payload : { left_out: `the item has ${characters} characters as JSON` };
}

// Fields of OTLP items as those of telemetry records (section 2.1 of the contract): the form in which dead letters are shown, corrected and taken again.

/** The field of a record that a field of an OTLP item becomes. */
function recordField(field: string | null): string | null {
  return field === null ? null : (ownMember(RECORD_FIELDS, field) ?? field);
}
