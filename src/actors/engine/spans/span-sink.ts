// The lane's side of spans: judges each and gathers compact messages, one kind for the shard of its service, one for the shard of its trace.
// Sketch: about 0.4 us a span. What is gathered leaves with the unit, or earlier when a message is full.
import { isLongerThan } from "../../../core/base/utf8.ts";
import { NAME_BYTES_MAX, TRACE_PARTITIONS } from "../../../core/config/limits.ts";
import { SECTION_SPANS } from "../../../core/layout/row-frame.ts";
import type { ItemRefusal, OtlpSpan } from "../../../domain/otlp/otlp-items.ts";
import { partitionOf, serviceSeed } from "../../../domain/placement/partition.ts";
import type { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import { bucketOf } from "../../../domain/trace/duration-sketch.ts";
import { JOIN_CHILD, JOIN_ERROR, JoinMessageWriter } from "../../../domain/trace/join-message.ts";
import { SPAN_ERROR, SPAN_REQUEST } from "../../../domain/trace/service-fold.ts";
import { SpanKey } from "../../../domain/trace/span-key.ts";
import { type ServiceName, WindowMessageWriter } from "../../../domain/window/window-message.ts";
import { windowOf } from "../../../domain/window/window-time.ts";
import type { MessageSource, WorkUnit } from "../work-unit.ts";
import { SpanRecords } from "./span-records.ts";

/** A message leaves at this size: with one more span and its names, 4 KiB, it is still below MESSAGE_BYTES_MAX. */
const MESSAGE_BYTES_FULL = 8 * 1024;
/** A text of so many UTF-16 units never has more than NAME_BYTES_MAX bytes. */
const NAME_UNITS_SAFE = NAME_BYTES_MAX / 4;
/** Services remembered between units. */
const SERVICES_KEPT_MAX = 1_000;
const MINUTE_MS = 60_000;
/** Longest duration that is summed: 2^40 us are 12 days. */
const MICROSECONDS_MAX = 2 ** 40;
const KIND_UNSPECIFIED = 0;
const KIND_INTERNAL = 1;
const KIND_SERVER = 2;
const KIND_CONSUMER = 5;
const STATUS_ERROR = 2;
const NO_PARENT = "0000000000000000";

/** A service that spans came from, and its message in the making. */
interface Source extends ServiceName {
  readonly partition: number;
  readonly seed: number;
  readonly message: WindowMessageWriter;
  readonly records: SpanRecords;
}

/** Takes the spans of one lane. */
export class SpanSink implements MessageSource {
  readonly #sources = new Map<string, Source>();
  #last: Source | undefined;
  readonly #joins: Array<JoinMessageWriter | undefined> = Array.from({ length: TRACE_PARTITIONS });
  /** Numbers of the partitions whose join message holds something, and the sources whose fold message does. */
  #begunJoins: number[] = [];
  #begunFolds: Source[] = [];
  readonly #key = new SpanKey();
  readonly #exclusions: FieldExclusions;
  /** Of the next block of records. */
  #serial = 0;
  #parentHigh = 0;
  #parentLow = 0;

  /** Records hold no field that `exclusions` names. */
  constructor(exclusions: FieldExclusions) {
    this.#exclusions = exclusions;
  }

  /** Takes a span that refuseSpan() lets pass into the unit at hand; `tenant` is its name. Answers why it is refused all the same, undefined when it is not. */
  take(tenant: string, span: OtlpSpan, unit: WorkUnit): ItemRefusal | undefined {
    const { endMs, environment } = span;
    if (environment.length > NAME_UNITS_SAFE && isLongerThan(environment, NAME_BYTES_MAX)) {
      const message = `the environment may have ${NAME_BYTES_MAX} bytes, got ${environment.length} characters`;
      return { reason: "field_too_long", field: "deployment.environment.name", message };
    }
    if (!Number.isFinite(endMs))
      return { reason: "invalid_timestamp", field: "endTimeUnixNano", message: "the end of the span is no time" };
    const source = this.#source(tenant, span);
    const key = this.#key;
    if (!key.takeTrace(source.seed, span.traceId)) return badId("traceId", 32, span.traceId);
    const isChild = span.parentSpanId !== "" && span.parentSpanId !== NO_PARENT;
    if (isChild) {
      if (!key.takeSpan(span.parentSpanId)) return badId("parentSpanId", 16, span.parentSpanId);
      this.#parentHigh = key.high;
      this.#parentLow = key.low;
    }
    if (!key.takeSpan(span.spanId)) return badId("spanId", 16, span.spanId);
    unit.addSource(this);
    const startMs = span.startMs > 0 ? span.startMs : endMs;
    const microseconds = Math.min(MICROSECONDS_MAX, Math.max(0, Math.round((endMs - startMs) * 1000)));
    this.#fold(source, span, isChild, endMs, microseconds, unit);
    this.#join(source, span, isChild, endMs, microseconds, unit);
    source.records.add(span, isChild ? span.parentSpanId : "", Math.round(endMs * 1000), microseconds, key.low, unit);
    return undefined;
  }

  /** Adds what has been gathered. */
  addMessages(unit: WorkUnit): void {
    for (const source of this.#begunFolds) {
      unit.addMessage(SECTION_SPANS, source.partition, source.message.finish());
      source.records.flush(unit);
    }
    for (const partition of this.#begunJoins)
      unit.addMessage(SECTION_SPANS, partition, (this.#joins[partition] as JoinMessageWriter).finish());
    this.#begunFolds = [];
    this.#begunJoins = [];
    if (this.#sources.size <= SERVICES_KEPT_MAX) return;
    this.#sources.clear();
    this.#last = undefined;
  }

  #source(tenant: string, { environment, serviceId }: OtlpSpan): Source {
    const last = this.#last;
    if (last !== undefined && last.serviceId === serviceId && last.environment === environment && last.tenant === tenant) return last;
    const key = JSON.stringify([tenant, environment, serviceId]);
    let source = this.#sources.get(key);
    if (source === undefined) {
      const partition = partitionOf(tenant, serviceId);
      const records = new SpanRecords({ tenant, environment, serviceId }, this.#exclusions, () => this.#serial++ % 2 ** 32);
      source = { tenant, environment, serviceId, partition, seed: serviceSeed(tenant), message: new WindowMessageWriter(), records };
      this.#sources.set(key, source);
    }
    this.#last = source;
    return source;
  }

  #fold(source: Source, span: OtlpSpan, isChild: boolean, endMs: number, microseconds: number, unit: WorkUnit): void {
    const { message } = source;
    const window = windowOf(endMs);
    if (message.bytes > MESSAGE_BYTES_FULL) unit.addMessage(SECTION_SPANS, source.partition, message.finish());
    else if (message.bytes === 0) this.#begunFolds.push(source);
    if (message.bytes === 0) message.begin(source, window);
    const flags = (isRequest(span.kind, isChild) ? SPAN_REQUEST : 0) | (span.statusCode === STATUS_ERROR ? SPAN_ERROR : 0);
    message.add(span.name, flags, window, bucketOf(microseconds), this.#key.high, this.#key.low);
  }

  #join(source: Source, span: OtlpSpan, isChild: boolean, endMs: number, microseconds: number, unit: WorkUnit): void {
    const partition = this.#key.traceHash % TRACE_PARTITIONS;
    const message = this.#joins[partition] ?? this.#newJoin(partition);
    const minute = Math.floor(endMs / MINUTE_MS);
    if (message.bytes > MESSAGE_BYTES_FULL) unit.addMessage(SECTION_SPANS, partition, message.finish());
    else if (message.bytes === 0) this.#begunJoins.push(partition);
    if (message.bytes === 0) message.begin(minute);
    const flags = (isChild ? JOIN_CHILD : 0) | (span.statusCode === STATUS_ERROR ? JOIN_ERROR : 0);
    message.add(source, flags, this.#key.high, this.#key.low);
    if (isChild) message.addParent(this.#parentHigh, this.#parentLow, minute, microseconds);
  }

  #newJoin(partition: number): JoinMessageWriter {
    const message = new JoinMessageWriter();
    this.#joins[partition] = message;
    return message;
  }
}

/** Whether a span is work that its service was asked for: from outside, or with nothing above it and of no kind that goes outwards. */
function isRequest(kind: number, isChild: boolean): boolean {
  if (kind === KIND_SERVER || kind === KIND_CONSUMER) return true;
  return !isChild && (kind === KIND_UNSPECIFIED || kind === KIND_INTERNAL);
}

function badId(field: string, digits: number, given: string): ItemRefusal {
  const shown = given.length > 40 ? `${given.slice(0, 40)}…` : given;
  return { reason: "invalid_record", field, message: `${field} must be ${digits} hex digits, not all 0, got ${JSON.stringify(shown)}` };
}
