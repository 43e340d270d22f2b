// The ingest's side of spans: judges each and gathers compact messages, one kind for the shard of its service, one for the shard of its trace.
// Sketch: about 0.4 us a span, 0.15 us one of the kernel's rows. What is gathered leaves with the unit, or earlier when a message is full.
import { NEW_SOURCE_TEXT_BYTES } from "../../../core/config/body-limits.ts";
import { TRACE_PARTITIONS } from "../../../core/config/limits.ts";
import { SECTION_SPANS } from "../../../core/layout/row-frame.ts";
import { NO_SPAN_TEXT, SPAN_ROW_CHILD, SPAN_ROW_ERROR, SPAN_ROW_KIND_SHIFT, SPAN_ROW_REQUEST } from "../../../core/layout/span-row.ts";
import type { Attributes } from "../../../core/protocol/coordinator-frame.ts";
import { MINUTE_MS } from "../../../core/time/durations.ts";
import { MESSAGE_BYTES_FULL } from "../../../domain/codec/shard-message.ts";
import type { ItemRefusal, OtlpSpan } from "../../../domain/otlp/otlp-items.ts";
import { partitionOf, serviceSeed } from "../../../domain/placement/partition.ts";
import type { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import { bucketOf } from "../../../domain/trace/duration-sketch.ts";
import { JOIN_CHILD, JOIN_CLIENT, JOIN_ERROR, JOIN_PEER, JoinMessageWriter } from "../../../domain/trace/join-message.ts";
import { operationHash } from "../../../domain/trace/operation-hash.ts";
import { SPAN_ERROR, SPAN_REQUEST } from "../../../domain/trace/service-aggregate.ts";
import { KIND_MASK } from "../../../domain/trace/span-block.ts";
import { SpanKey } from "../../../domain/trace/span-key.ts";
import { callsOut, KIND_CLIENT, peerOfAttributes } from "../../../domain/trace/span-peer.ts";
import {
  encodeServiceName,
  type ServiceName,
  type WindowMessageWriter,
  WindowMessageWriters,
} from "../../../domain/window/window-message.ts";
import { windowOf } from "../../../domain/window/window-time.ts";
import type { MessageSource, WorkUnit } from "../unit/work-unit.ts";
import { SpanBlockWriters, SpanRecords } from "./span-records.ts";
import type { SpanRows } from "./span-rows.ts";

/** Services remembered between units. */
const SERVICES_RETAINED_MAX = 1_000;
/** Numbers of services begin anew behind so many, when those of before are in no message any more. */
const SOURCE_NUMBERS = 2 ** 30;
/** Names that one service calls between two units, beyond which all are written anew. */
const CALLED_NAMES_MAX = 100;
/** Longest duration that is summed: 2^40 us are 12 days (assembly/traces/otlp-traces-walk.ts has the same). */
const MICROSECONDS_MAX = 2 ** 40;
const KIND_UNSPECIFIED = 0;
const KIND_INTERNAL = 1;
const KIND_SERVER = 2;
/** Bits of the kind in SPAN_ROW_FLAGS, shifted. */
const KIND_CONSUMER = 5;
const STATUS_ERROR = 2;
const NO_PARENT = "0000000000000000";

/** A service that spans came from, and its message in the making. */
export interface SpanSource extends ServiceName {
  readonly partition: number;
  /** Its own among the ingest's services. */
  readonly number: number;
  readonly seed: number;
  /** That of the unit at hand. */
  message: WindowMessageWriter | undefined;
  readonly records: SpanRecords;
  /** Those that it calls by their names alone, CALLED_NAMES_MAX of them. */
  readonly called: Map<string, CalledName>;
}

/** Somebody who is called and sends no spans, in the place of the service that calls. */
interface CalledName extends ServiceName {
  readonly number: number;
}

/** Takes the spans of one engine. */
export class SpanIntake implements MessageSource {
  readonly #sources = new Map<string, SpanSource>();
  #last: SpanSource | undefined;
  readonly #joins: Array<JoinMessageWriter | undefined> = Array.from({ length: TRACE_PARTITIONS });
  /** Numbers of the partitions whose join message holds something, and the sources whose aggregate message does. */
  #begunJoins: number[] = [];
  #begunMessages: SpanSource[] = [];
  #sourceCount = 0;
  #forgotten = 0;
  readonly #key = new SpanKey();
  readonly #exclusions: FieldExclusions;
  readonly #writers = new SpanBlockWriters();
  readonly #messages = new WindowMessageWriters();
  /** Whether the unit at hand knows that there is something to be had. */
  #isGathering = false;
  // Of the span at hand.
  #parentHigh = 0;
  #parentLow = 0;
  #isChild = false;
  #isError = false;
  #isClient = false;
  #peer: CalledName | undefined;

  /** Records hold no field that `exclusions` names. */
  constructor(exclusions: FieldExclusions) {
    this.#exclusions = exclusions;
  }

  /** Takes a span that refuseSpan() lets pass into the unit at hand; `tenant` is its name. Answers why it is refused all the same, undefined when it is not. */
  take(tenant: string, span: OtlpSpan, unit: WorkUnit): ItemRefusal | undefined {
    const { endMs, environment } = span;
    if (!Number.isFinite(endMs))
      return { reason: "invalid_timestamp", field: "endTimeUnixNano", message: "the end of the span is no time" };
    const source = this.source(tenant, environment, span.serviceId, unit);
    const key = this.#key;
    if (!key.takeTrace(source.seed, span.traceId)) return badId("traceId", 32, span.traceId);
    const isChild = span.parentSpanId !== "" && span.parentSpanId !== NO_PARENT;
    if (isChild) {
      if (!key.takeSpan(span.parentSpanId)) return badId("parentSpanId", 16, span.parentSpanId);
      this.#parentHigh = key.high;
      this.#parentLow = key.low;
    }
    if (!key.takeSpan(span.spanId)) return badId("spanId", 16, span.spanId);
    this.#enter(unit);
    this.#isChild = isChild;
    this.#isError = span.statusCode === STATUS_ERROR;
    this.#isClient = span.kind === KIND_CLIENT;
    this.#peer = callsOut(span.kind) ? this.#called(source, peerOfAttributes(this.#named(span.attributes))) : undefined;
    const startMs = span.startMs > 0 ? span.startMs : endMs;
    const microseconds = Math.min(MICROSECONDS_MAX, Math.max(0, Math.round((endMs - startMs) * 1000)));
    const { high, low, traceHash } = key;
    this.#aggregate(source, span.name, NO_SPAN_TEXT, isRequest(span.kind, isChild), endMs, microseconds, high, low, unit);
    const operation = this.#isClient ? 0 : operationHash(span.name);
    this.#join(source, traceHash, endMs, microseconds, operation, high, low, unit);
    source.records.add(span, isChild ? span.parentSpanId : "", Math.round(endMs * 1000), microseconds, low, unit);
    return undefined;
  }

  /** Number of times that all services have been forgotten. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Takes the span at hand of the kernel's rows, which is a good one; only where no field is excluded. */
  takeRow(source: SpanSource, rows: SpanRows, resource: Attributes, unit: WorkUnit): void {
    const { flags, name, endMs, microseconds, high, low } = rows;
    this.#enter(unit);
    this.#isChild = (flags & SPAN_ROW_CHILD) !== 0;
    this.#isError = (flags & SPAN_ROW_ERROR) !== 0;
    const kind = (flags >>> SPAN_ROW_KIND_SHIFT) & KIND_MASK;
    this.#isClient = kind === KIND_CLIENT;
    this.#peer = callsOut(kind) ? this.#called(source, rows.peer) : undefined;
    this.#parentHigh = rows.parentHigh;
    this.#parentLow = rows.parentLow;
    this.#aggregate(source, name, rows.nameText, (flags & SPAN_ROW_REQUEST) !== 0, endMs, microseconds, high, low, unit);
    this.#join(source, rows.traceHash, endMs, microseconds, this.#isClient ? 0 : hashOf(name, rows), high, low, unit);
    source.records.addRow(rows, name, resource, unit);
  }

  /** Adds what has been gathered. */
  addMessages(unit: WorkUnit): void {
    for (const source of this.#begunMessages) {
      const message = source.message as WindowMessageWriter;
      unit.addMessage(SECTION_SPANS, source.partition, message.finish());
      this.#messages.give(message);
      source.message = undefined;
      source.records.flush(unit);
    }
    for (const partition of this.#begunJoins)
      unit.addMessage(SECTION_SPANS, partition, (this.#joins[partition] as JoinMessageWriter).finish());
    this.#begunMessages = [];
    this.#begunJoins = [];
    this.#isGathering = false;
    if (this.#sources.size <= SERVICES_RETAINED_MAX) return;
    this.#sources.clear();
    this.#last = undefined;
    this.#forgotten++;
  }

  #enter(unit: WorkUnit): void {
    if (this.#isGathering) return;
    unit.addSource(this);
    this.#isGathering = true;
  }

  /** The service whose rows takeRow() takes, by names that were judged. Good until the services are forgotten: then take() has another for it. */
  source(tenant: string, environment: string, serviceId: string, unit: WorkUnit): SpanSource {
    const last = this.#last;
    if (last !== undefined && last.serviceId === serviceId && last.environment === environment && last.tenant === tenant) return last;
    const key = JSON.stringify([tenant, environment, serviceId]);
    let source = this.#sources.get(key);
    if (source === undefined) {
      unit.worked(NEW_SOURCE_TEXT_BYTES, 0);
      const name = { tenant, environment, serviceId, encoded: encodeServiceName({ tenant, environment, serviceId }) };
      source = {
        tenant,
        environment,
        serviceId,
        encoded: name.encoded,
        partition: partitionOf(tenant, serviceId),
        number: this.#sourceCount++ % SOURCE_NUMBERS,
        seed: serviceSeed(tenant),
        message: undefined,
        records: new SpanRecords(name, this.#exclusions, this.#writers),
        called: new Map(),
      };
      this.#sources.set(key, source);
    }
    this.#last = source;
    return source;
  }

  /** Attributes that names may be taken from: none that may not be stored. */
  #named(attributes: Attributes): Attributes {
    return this.#exclusions.isEmpty ? attributes : this.#exclusions.strip({ attributes }).attributes;
  }

  /** Whom a service calls by a name; undefined for "". */
  #called({ tenant, environment, called }: SpanSource, name: string): CalledName | undefined {
    if (name === "") return undefined;
    let of = called.get(name);
    if (of === undefined) {
      if (called.size >= CALLED_NAMES_MAX) called.clear();
      const service = { tenant, environment, serviceId: name };
      of = { ...service, encoded: encodeServiceName(service), number: this.#sourceCount++ % SOURCE_NUMBERS };
      called.set(name, of);
    }
    return of;
  }

  #aggregate(
    source: SpanSource,
    name: string | Uint8Array,
    nameText: number,
    isRequest: boolean,
    endMs: number,
    microseconds: number,
    high: number,
    low: number,
    unit: WorkUnit,
  ): void {
    const message = source.message ?? this.#beginMessage(source);
    const window = windowOf(endMs);
    if (message.bytes > MESSAGE_BYTES_FULL) unit.addMessage(SECTION_SPANS, source.partition, message.finish());
    if (message.bytes === 0) message.begin(source, window);
    const flags = (isRequest ? SPAN_REQUEST : 0) | (this.#isError ? SPAN_ERROR : 0);
    if (nameText === NO_SPAN_TEXT && typeof name === "string") message.add(name, flags, window, bucketOf(microseconds), high, low);
    else message.addNumbered(name, nameText, flags, window, bucketOf(microseconds), high, low);
  }

  #join(
    source: SpanSource,
    traceHash: number,
    endMs: number,
    microseconds: number,
    operation: number,
    high: number,
    low: number,
    unit: WorkUnit,
  ): void {
    const partition = traceHash % TRACE_PARTITIONS;
    const message = this.#joins[partition] ?? this.#newJoin(partition);
    const minute = Math.floor(endMs / MINUTE_MS);
    if (message.bytes > MESSAGE_BYTES_FULL) unit.addMessage(SECTION_SPANS, partition, message.finish());
    else if (message.bytes === 0) this.#begunJoins.push(partition);
    if (message.bytes === 0) message.begin(minute);
    const flags =
      (this.#isChild ? JOIN_CHILD : 0) |
      (this.#isError ? JOIN_ERROR : 0) |
      (this.#isClient ? JOIN_CLIENT : 0) |
      (this.#peer === undefined ? 0 : JOIN_PEER);
    message.add(source, source.number, flags, high, low, minute, microseconds, operation);
    if (this.#peer !== undefined) message.addPeer(this.#peer, this.#peer.number);
    if (this.#isChild) message.addParent(this.#parentHigh, this.#parentLow);
  }

  #beginMessage(source: SpanSource): WindowMessageWriter {
    this.#begunMessages.push(source);
    source.message = this.#messages.take();
    return source.message;
  }

  #newJoin(partition: number): JoinMessageWriter {
    const message = new JoinMessageWriter();
    this.#joins[partition] = message;
    return message;
  }
}

function hashOf(name: string | Uint8Array, rows: SpanRows): number {
  return typeof name === "string" ? operationHash(name) : rows.nameHash;
}

/** Whether a span is work that its service was asked for: from outside, or with nothing above it and of no kind that goes outwards. */
function isRequest(kind: number, isChild: boolean): boolean {
  if (kind === KIND_SERVER || kind === KIND_CONSUMER) return true;
  return !isChild && (kind === KIND_UNSPECIFIED || kind === KIND_INTERNAL);
}

function badId(field: string, digits: number, input: string): ItemRefusal {
  const shown = input.length > 40 ? `${input.slice(0, 40)}…` : input;
  return { reason: "invalid_record", field, message: `${field} must be ${digits} hex digits, not all 0, got ${JSON.stringify(shown)}` };
}
