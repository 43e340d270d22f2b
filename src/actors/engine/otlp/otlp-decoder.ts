// Decodes OTLP bodies into the unit of work. Number points in protobuf go by the kernel's walk; everything else is read item by item, and a body whose
// items do not fit goes on in the next unit. Whether a body can be decoded at all is known before anything of it is staged.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { JSON_ELEMENT_BYTES_MAX, JSON_PARSED_BYTES_MAX, JSON_SCANNED_BYTES_MAX } from "../../../core/config/body-limits.ts";
import { TIMESTAMP_AGE_MS_MAX, TIMESTAMP_FUTURE_MS_MAX, WORK_ROWS_MAX } from "../../../core/config/limits.ts";
import { STATUS_BAD_PROTOBUF, STATUS_OK } from "../../../core/layout/kernel-status.ts";
import {
  BODY_PADDING_BYTES,
  DECOMPRESSED,
  OTLP_POINT,
  OTLP_POINT_END,
  RETAINED_PARSE,
  RETAINED_PARSE_BYTES,
  SERIES_INDEX,
} from "../../../core/layout/memory-map.ts";
import { type OtlpEncoding, type OtlpSignal, otlpOfBodyKind } from "../../../core/protocol/otlp-kind.ts";
import { decodeJson } from "../../../domain/codec/json-body.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import { fillPowersOfFive } from "../../../domain/kernel/powers-of-five.ts";
import { logRecord } from "../../../domain/logs/log-record.ts";
import { LOG_NAMES, logsOfJson } from "../../../domain/otlp/json-logs.ts";
import { METRIC_NAMES, metricsOfJson } from "../../../domain/otlp/json-metrics.ts";
import { spansOfJson, TRACE_NAMES } from "../../../domain/otlp/json-traces.ts";
import { requestProblem } from "../../../domain/otlp/json-values.ts";
import type { ItemRefusal, LogItem, MetricItem, SpanItem } from "../../../domain/otlp/otlp-items.ts";
import { logsOfProtobuf } from "../../../domain/otlp/protobuf-logs.ts";
import { metricsOfProtobuf } from "../../../domain/otlp/protobuf-metrics.ts";
import { spansOfProtobuf } from "../../../domain/otlp/protobuf-traces.ts";
import type { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import { recordOfSpan } from "../../../domain/trace/span-record.ts";
import type { BodyProblem } from "../json/record-runs.ts";
import type { LogIntake } from "../logs/log-intake.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { SpanIntake } from "../spans/span-intake.ts";
import { type Body, decodeJsonBody, isLarge, refusedAnswer, toWorkArea } from "../unit/body.ts";
import type { BodyDecoder } from "../unit/body-decoder.ts";
import type { LabelIntake } from "../unit/label-intake.ts";
import type { MetricDescriptions } from "../unit/metric-descriptions.ts";
import type { MetricScopes } from "../unit/metric-scopes.ts";
import type { RetainedPosition } from "../unit/retained-positions.ts";
import type { StreamDefiner } from "../unit/stream-definer.ts";
import type { BodyAnswer, WorkUnit } from "../unit/work-unit.ts";
import { MetricsParser } from "./metrics-parser.ts";
import { NumberPoints, POINT_ROWS_MAX, recordOfPoint } from "./number-points.ts";
import { OtlpIntake } from "./otlp-intake.ts";
import { OtlpOutcome } from "./otlp-outcome.ts";
import { elementsMax, RequestCut, type RequestPiece, textOfPiece, tooManyElements } from "./request-pieces.ts";
import { TracesParser } from "./traces-parser.ts";

type Item = MetricItem | SpanItem | LogItem;

export interface OtlpDecoderOptions {
  /** OTEL_TEMPORALITY_NORMALIZE. */
  readonly convertsCounters: boolean;
  /** OTEL_SERVICE_NAMESPACE is prefix. */
  readonly prefixesServices?: boolean;
}

export interface OtlpDecoderDependencies {
  readonly memory: EngineMemory;
  readonly kernel: IngestExports;
  readonly definer: StreamDefiner;
  readonly counters: EngineCounters;
  readonly exclusions: FieldExclusions;
  readonly labels: LabelIntake;
  readonly descriptions: MetricDescriptions;
  readonly scopes: MetricScopes;
  readonly tenantName: (index: number) => string;
  readonly requestId: (admission: number) => string;
  readonly spans: SpanIntake;
  readonly logs: LogIntake;
}

const JSON_NAMES = { metrics: METRIC_NAMES, traces: TRACE_NAMES, logs: LOG_NAMES } as const;
const NO_ATTRIBUTES = { attributes: {}, resourceAttributes: {} } as const;
/** Fields that were passed without an item take as long as so many bytes of text. */
const SILENCE_BYTES = 4_096;
/** A histogram or summary takes as long as so many bytes of text more than another item, 15 us. */
const DISTRIBUTION_BYTES = 256;
const NO_ITEMS: Iterator<Item> = [][Symbol.iterator]();

/** Decodes OTLP bodies for one engine, one at a time. */
export class OtlpDecoder implements BodyDecoder {
  readonly takesCopy = false;
  readonly #options: OtlpDecoderOptions;
  readonly #prefixes: boolean;
  readonly #dependencies: OtlpDecoderDependencies;
  readonly #consumer: OtlpIntake;
  readonly #points: NumberPoints;
  readonly #metrics: MetricsParser;
  #items: Iterator<Item | undefined> = NO_ITEMS;
  #parsesMetrics = false;
  /** Whether number points of what is at hand are the walk's, or were. */
  #isParsed = false;
  readonly #traces: TracesParser;
  #parsesTraces = false;
  /** The check of a long body in JSON, and then its pieces that are still to be decoded, the next one last. */
  #cut: Generator<undefined, readonly RequestPiece[] | BodyProblem> | undefined;
  #pieces: RequestPiece[] = [];
  /** Whether the kernel walks each piece: it has not walked the body as a whole. */
  #parsesPieces = false;
  #outcome: OtlpOutcome | undefined;

  constructor(options: OtlpDecoderOptions, dependencies: OtlpDecoderDependencies) {
    this.#options = options;
    this.#prefixes = options.prefixesServices ?? false;
    this.#dependencies = dependencies;
    fillPowersOfFive(dependencies.memory.view);
    this.#consumer = new OtlpIntake(dependencies);
    this.#points = new NumberPoints(options, dependencies);
    this.#metrics = new MetricsParser(this.#points, dependencies, this.#prefixes);
    this.#traces = new TracesParser(dependencies, this.#prefixes);
  }

  /** Starts a body; undefined when the unit must be committed first, then resume(). */
  begin(body: Body, unit: WorkUnit): BodyAnswer | undefined {
    const { signal, encoding } = otlpOfBodyKind(body.kind);
    this.#outcome = new OtlpOutcome(this.#dependencies, body, signal);
    this.#consumer.begin();
    this.#items = NO_ITEMS;
    this.#parsesMetrics = this.#isParsed = false;
    this.#parsesTraces = false;
    this.#cut = undefined;
    this.#pieces = [];
    const problem = encoding === "json" ? this.#beginJson(body, unit, signal) : this.#beginProtobuf(body, unit, signal);
    if (problem !== undefined) return this.#refuse(body, problem);
    return body.bytes > JSON_SCANNED_BYTES_MAX ? undefined : this.resume(body, unit);
  }

  /** Notes where the body stands behind a unit, so that others may use the kernel; answers which places of its memory are to be as they are when it goes on. */
  keep(): readonly RetainedPosition[] {
    const { kernel } = this.#dependencies;
    if (this.#parsesMetrics) {
      const bytes = kernel.otlpMetricsSuspend() - SERIES_INDEX;
      return [
        { pointer: SERIES_INDEX, bytes, isConstant: false },
        { pointer: RETAINED_PARSE, bytes: RETAINED_PARSE_BYTES, isConstant: false },
        { pointer: OTLP_POINT, bytes: OTLP_POINT_END, isConstant: false },
      ];
    }
    if (!this.#parsesTraces) return [];
    kernel.otlpTracesSuspend();
    return [{ pointer: RETAINED_PARSE, bytes: RETAINED_PARSE_BYTES, isConstant: false }];
  }

  /** They are again, and the body lies `moved` bytes further; then resume(). */
  goOn(moved: number): void {
    const { kernel } = this.#dependencies;
    if (this.#parsesMetrics) {
      kernel.otlpMetricsGoOn(moved);
      this.#metrics.goOn();
    } else if (this.#parsesTraces) {
      kernel.otlpTracesGoOn(moved);
      this.#traces.goOn();
    }
  }

  #refuse(body: Body, problem: BodyProblem): BodyAnswer {
    const { signal } = otlpOfBodyKind(body.kind);
    const { counters, requestId } = this.#dependencies;
    counters.otlp(signal, 0, 0);
    counters.rejected(signal === "metrics" ? "metric" : signal === "traces" ? "trace" : "log", problem.code, 1);
    return refusedAnswer({ code: problem.code, message: problem.message }, requestId(body.admission));
  }

  /** Goes on with the body into a fresh unit, which must have the base of the one it began in. */
  resume(body: Body, unit: WorkUnit): BodyAnswer | undefined {
    const outcome = this.#outcome as OtlpOutcome;
    if (this.#cut !== undefined) {
      const checked = this.#cut.next();
      if (checked.done !== true) return undefined;
      this.#cut = undefined;
      if ("code" in checked.value) return this.#refuse(body, checked.value);
      this.#pieces = [...checked.value].reverse();
    }
    this.#consumer.enter(body, unit);
    do {
      if (!this.#takeAtHand(body, unit, outcome)) return undefined;
    } while (this.#beginPiece(body, unit));
    return outcome.finish(unit);
  }

  /** Takes what is left of the body, or of its piece, at hand; false when the unit must be committed first. */
  #takeAtHand(body: Body, unit: WorkUnit, outcome: OtlpOutcome): boolean {
    if (this.#parsesMetrics) {
      if (!this.#metrics.step(body, unit, outcome)) return false;
      this.#parsesMetrics = false;
    }
    if (this.#parsesTraces) {
      if (!this.#traces.step(body, unit, outcome, (item) => this.#take(item, body, unit, outcome))) return false;
      this.#parsesTraces = false;
    }
    for (;;) {
      if (!this.#hasCapacity(unit)) return false;
      const next = this.#items.next();
      if (next.done === true) return true;
      if (next.value === undefined) unit.worked(SILENCE_BYTES);
      else {
        unit.worked(next.value.type === "distribution" ? DISTRIBUTION_BYTES : 0);
        this.#take(next.value, body, unit, outcome);
      }
    }
  }

  /** Decodes the next piece of a long body; false when there is none. */
  #beginPiece(body: Body, unit: WorkUnit): boolean {
    const piece = this.#pieces.pop();
    if (piece === undefined) return false;
    const { signal } = otlpOfBodyKind(body.kind);
    const bytes = piece.end - piece.from;
    if (piece.elements === 1 && bytes > JSON_ELEMENT_BYTES_MAX) {
      this.#items = damagedItem(`an item may have ${JSON_ELEMENT_BYTES_MAX} bytes as JSON, got ${bytes}; send a shorter one`);
      return true;
    }
    const text = textOfPiece(piece, this.#dependencies.memory);
    unit.worked(text.length);
    if (this.#parsesPieces && this.#parsePiece(text, body, unit)) return true;
    const decoded = decodeJson(text);
    const problem = decoded.ok ? requestProblem(decoded.value, JSON_NAMES[signal]) : decoded.message;
    this.#items =
      problem === undefined && decoded.ok ? this.#itemsOf(decoded.value, signal) : damagedItem(`a part of the request: ${problem}`);
    return true;
  }

  /** Has the kernel walk a piece of metrics; false when there is something in it that is decoded here. */
  #parsePiece(text: string, body: Body, unit: WorkUnit): boolean {
    const { memory, kernel } = this.#dependencies;
    const bytes = memory.slice(DECOMPRESSED, text.length * 3).write(text);
    memory.bytes.fill(0, DECOMPRESSED + bytes, DECOMPRESSED + bytes + BODY_PADDING_BYTES);
    return this.#beginParse({ ...body, pointer: DECOMPRESSED, bytes }, unit, "json") >= 0 && kernel.otlpDistributions() === 0;
  }

  #hasCapacity(unit: WorkUnit): boolean {
    return this.#dependencies.kernel.stagedRows() + POINT_ROWS_MAX <= WORK_ROWS_MAX && unit.mayWork;
  }

  #beginProtobuf(body: Body, unit: WorkUnit, signal: OtlpSignal): BodyProblem | undefined {
    const { kernel } = this.#dependencies;
    kernel.otlpElementsMax(elementsMax(body.bytes));
    const begun =
      signal === "metrics"
        ? this.#beginMetrics(body, unit)
        : signal === "traces"
          ? this.#beginTraces(body)
          : kernel.otlpRequestCheck(body.pointer, body.bytes) !== STATUS_BAD_PROTOBUF;
    if (!begun) {
      if (body.bytes > 0 && kernel.otlpElementsLeft() === 0) return tooManyElements(body.bytes);
      return { code: "invalid_protobuf", message: `the body is no ${REQUESTS[signal]} in protobuf; nothing of it was stored` };
    }
    if (signal === "logs") this.#items = logsOfProtobuf(this.#ownBytes(body), this.#prefixes);
    return undefined;
  }

  /** The bytes of a body that are read item by item: the ring has those of another when that goes on. */
  #ownBytes(body: Body): Buffer {
    const bytes = this.#dependencies.memory.slice(body.pointer, body.bytes);
    return isLarge(body) ? bytes : Buffer.from(bytes);
  }

  /** Has the kernel check a body of metrics and begins the walk over its number points unless it is odd: the number of points, or why there is no walk. */
  #beginParse(body: Body, unit: WorkUnit, encoding: OtlpEncoding): number {
    const { kernel } = this.#dependencies;
    const least = body.wallMs - TIMESTAMP_AGE_MS_MAX;
    const most = body.wallMs + TIMESTAMP_FUTURE_MS_MAX;
    const convert = this.#options.convertsCounters ? 1 : 0;
    const points = kernel.otlpMetricsBegin(
      body.pointer,
      body.bytes,
      encoding === "json" ? 1 : 0,
      body.tenant,
      unit.baseMs,
      least,
      most,
      body.wallMs,
      convert,
      WORK_ROWS_MAX,
    );
    this.#parsesMetrics = points >= 0;
    this.#isParsed = this.#parsesMetrics;
    if (this.#parsesMetrics) this.#metrics.begin(points, encoding);
    return points;
  }

  #beginMetrics(body: Body, unit: WorkUnit): boolean {
    if (this.#beginParse(body, unit, "protobuf") === STATUS_BAD_PROTOBUF) return false;
    if (!this.#parsesMetrics || this.#dependencies.kernel.otlpDistributions() > 0)
      this.#items = metricsOfProtobuf(this.#ownBytes(body), this.#parsesMetrics, this.#prefixes);
    return true;
  }

  /** The kernel checks the body; it walks it where nothing is excluded and the body is not odd. */
  #beginTraces(body: Body): boolean {
    const status = this.#traces.begin(body);
    if (status === STATUS_BAD_PROTOBUF) return false;
    this.#parsesTraces = status === STATUS_OK && this.#dependencies.exclusions.isEmpty;
    if (!this.#parsesTraces) this.#items = spansOfProtobuf(this.#ownBytes(body), this.#prefixes);
    return true;
  }

  #beginJson(body: Body, unit: WorkUnit, signal: OtlpSignal): BodyProblem | undefined {
    const { kernel } = this.#dependencies;
    const bad = (message: string) => ({ code: "invalid_json", message }) as const;
    this.#parsesPieces = signal === "metrics" && body.bytes > JSON_SCANNED_BYTES_MAX;
    kernel.otlpElementsMax(elementsMax(body.bytes));
    if (signal === "metrics" && !this.#parsesPieces) {
      if (this.#beginParse(body, unit, "json") >= 0 && kernel.otlpDistributions() === 0) return undefined;
      if (kernel.otlpElementsLeft() === 0) return tooManyElements(body.bytes);
    }
    if (body.bytes > JSON_PARSED_BYTES_MAX) {
      const placed = isLarge(body) ? body : toWorkArea(body, this.#dependencies.memory);
      this.#cut = new RequestCut(placed, JSON_NAMES[signal], signal === "metrics", this.#dependencies).run();
      return undefined;
    }
    unit.worked(body.bytes);
    const decoded = decodeJsonBody(body, this.#dependencies);
    if (!decoded.ok) return bad(decoded.message);
    const problem = requestProblem(decoded.value, JSON_NAMES[signal]);
    if (problem !== undefined) return bad(`the body is no ${REQUESTS[signal]}: ${problem}`);
    this.#items = this.#itemsOf(decoded.value, signal);
    return undefined;
  }

  #itemsOf(request: unknown, signal: OtlpSignal): Iterator<Item> {
    if (signal === "metrics") return metricsOfJson(request, this.#isParsed, this.#prefixes);
    return signal === "traces" ? spansOfJson(request, this.#prefixes) : logsOfJson(request, this.#prefixes);
  }

  #take(decoded: Item, body: Body, unit: WorkUnit, outcome: OtlpOutcome): void {
    const { exclusions } = this.#dependencies;
    const input = this.#named(decoded, body, unit);
    const item = exclusions.isEmpty ? input : withoutFields(input, exclusions);
    const refusal = this.#refusalOf(item, body, unit);
    if (refusal === undefined) {
      outcome.accept(1);
      if (item.type === "span") this.#dependencies.counters.lost(item.span.loss);
      else if (item.type === "log") this.#dependencies.counters.lost(item.log.loss);
      this.#reportLabels(input, body, unit);
    } else outcome.refuse(unit, refusal, payloadOf(item));
  }

  /** The item as its stream is named. */
  #named(item: Item, body: Body, unit: WorkUnit): Item {
    const { scopes } = this.#dependencies;
    if (item.type === "number") {
      const point = scopes.number(item.point, body.tenant, unit);
      return point === item.point ? item : { ...item, point };
    }
    if (item.type !== "distribution") return item;
    const point = scopes.distribution(item.point, item.head, body.tenant, unit);
    return point === item.point ? item : { ...item, point };
  }

  /** Description of a source and a metric. Number points have theirs recorded where their stream is defined. */
  #reportLabels(item: Item, body: Body, unit: WorkUnit): void {
    if (item.type === "number" || item.type === "damaged") return;
    const { serviceId, resourceAttributes } = item.type === "span" ? item.span : item.type === "log" ? item.log : item.head.source;
    const { labels, descriptions, tenantName } = this.#dependencies;
    const tenant = tenantName(body.tenant);
    labels.takeAttributes(tenant, serviceId, resourceAttributes, unit);
    if (item.type === "distribution") descriptions.take(tenant, item.head, body.wallMs, unit);
  }

  #refusalOf(item: Item, body: Body, unit: WorkUnit): ItemRefusal | undefined {
    switch (item.type) {
      case "number":
        return this.#points.take(item.point, body, unit);
      case "distribution":
        return item.head.source.resourceRefusal ?? this.#consumer.distribution(item.point);
      case "span":
        return this.#consumer.span(item.span);
      case "log":
        return this.#consumer.log(item.log);
      case "damaged":
        return { reason: "invalid_record", field: null, message: item.item.message };
    }
  }
}

const REQUESTS: Readonly<Record<OtlpSignal, string>> = {
  metrics: "ExportMetricsServiceRequest",
  traces: "ExportTraceServiceRequest",
  logs: "ExportLogsServiceRequest",
};

/** Item for what cannot be read. */
function damagedItem(message: string): Iterator<Item> {
  const item: Item = { type: "damaged", item: { message } };
  return [item][Symbol.iterator]();
}

/** A span or a log without the fields that must not be stored: before templates, blocks of spans and hashes are made of it. */
function withoutFields(item: Item, exclusions: FieldExclusions): Item {
  if (item.type === "span") {
    const { attributes, resourceAttributes } = item.span;
    const retained: Partial<typeof item.span> = exclusions.strip({ attributes, resourceAttributes });
    return { type: "span", span: { ...item.span, ...NO_ATTRIBUTES, ...retained } };
  }
  if (item.type !== "log") return item;
  const { attributes, resourceAttributes, body } = item.log;
  const stripped: Partial<typeof item.log> = exclusions.strip({ attributes, resourceAttributes, body });
  return { type: "log", log: { ...item.log, ...NO_ATTRIBUTES, body: "", ...stripped } };
}

/** Part of an item that is kept as a dead letter. */
function payloadOf(item: Item): unknown {
  switch (item.type) {
    case "number":
      return recordOfPoint(item.point);
    case "distribution":
      return item.point;
    case "span":
      return recordOfSpan(item.span);
    case "log":
      return logRecord(item.log);
    case "damaged":
      return null;
  }
}
