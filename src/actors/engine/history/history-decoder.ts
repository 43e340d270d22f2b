// Decodes bodies of history into units of work of their own: samples by series, each in order of time. Row offsets are 32 bits of milliseconds, so a
// unit holds 49 days; a body that spans more takes one unit after the other. 10,000 samples of CSV take about 15 ms.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { JSON_COUNTED_ANY } from "../../../core/config/body-limits.ts";
import { BATCH_RECORDS_MAX, IMPORT_DECOMPRESSED_BYTES_MAX, JSON_DEPTH_MAX } from "../../../core/config/limits.ts";
import { finished } from "../../../core/fairness/serial-work.ts";
import { DEFINE_SERVICE_LABEL_SHIFT } from "../../../core/layout/row-frame.ts";
import { SERVICE_LABEL_FOREIGN } from "../../../core/layout/stream-record.ts";
import { BODY_IMPORT_CSV, BODY_IMPORT_REMOTE_WRITE_1, BODY_IMPORT_REMOTE_WRITE_2 } from "../../../core/protocol/body-kind.ts";
import { holdsHalfCharacter } from "../../../domain/codec/json-body.ts";
import { type JsonBounds, scanJson } from "../../../domain/codec/json-scan.ts";
import { readSnappyBlock } from "../../../domain/codec/snappy-block.ts";
import { CsvHistory } from "../../../domain/history/csv-history.ts";
import { HistoryCollector, HistoryError, type HistorySeries } from "../../../domain/history/history-collector.ts";
import { readJsonHistory } from "../../../domain/history/json-history.ts";
import { readRemoteWriteHistory } from "../../../domain/history/remote-write-history.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import { flagsOfRecord } from "../../../domain/series/classification.ts";
import type { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import { scopedAttributes } from "../../../domain/series/metric-scope.ts";
import { environmentOf, nameOfRecord } from "../../../domain/series/stream-identity.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import { type Body, decodeJsonText, refusedAnswer, textOfBody } from "../unit/body.ts";
import type { MetricScopes } from "../unit/metric-scopes.ts";
import type { DefinedStream, StreamDefiner } from "../unit/stream-definer.ts";
import type { BodyAnswer, WorkUnit } from "../unit/work-unit.ts";

export interface HistoryDecoderDependencies {
  readonly memory: EngineMemory;
  readonly kernel: IngestExports;
  readonly definer: StreamDefiner;
  readonly counters: EngineCounters;
  readonly exclusions: FieldExclusions;
  readonly scopes: MetricScopes;
  readonly replicaLabels: ReadonlySet<string>;
  readonly tenantName: (index: number) => string;
  readonly requestId: (admission: number) => string;
}

/** A list of samples is the longest that such a body has. */
const BOUNDS: JsonBounds = { entriesMax: BATCH_RECORDS_MAX, membersMax: JSON_COUNTED_ANY, depthMax: JSON_DEPTH_MAX };
/** Span of a unit in ms: below 2^32, in whole days. */
const UNIT_MS = 49 * 24 * 3600 * 1000;

/** A series on its way into units. */
interface PendingSeries {
  readonly series: HistorySeries;
  stream: DefinedStream | undefined;
  next: number;
}

/** Decodes history for one engine. */
export class HistoryDecoder {
  readonly #dependencies: HistoryDecoderDependencies;
  #collector = new HistoryCollector({ nowMs: 0, samplesMax: 0 });
  #pending: PendingSeries[] = [];
  #series = 0;
  #imported = 0;

  constructor(dependencies: HistoryDecoderDependencies) {
    this.#dependencies = dependencies;
  }

  /** Starts a body; an answer at once means that it is done, or that nothing of it can be taken. */
  begin(body: Body, unit: WorkUnit): BodyAnswer | undefined {
    this.#collector = new HistoryCollector({ nowMs: body.wallMs, samplesMax: BATCH_RECORDS_MAX });
    this.#imported = 0;
    try {
      this.#read(body);
    } catch (error) {
      if (!(error instanceof HistoryError)) throw error;
      this.#pending = [];
      return refusedAnswer({ code: error.code, message: error.message }, this.#dependencies.requestId(body.admission));
    }
    this.#pending = this.#collector.finish().map((series) => ({ series: this.#stripped(series), stream: undefined, next: 0 }));
    this.#series = this.#pending.length;
    return this.resume(body, unit);
  }

  /** Goes on with the body into a fresh unit. */
  resume(body: Body, unit: WorkUnit): BodyAnswer | undefined {
    const firstMs = Math.min(...this.#pending.map(({ series, next }) => series.times[next] as number));
    if (Number.isFinite(firstMs)) unit.becomeHistory(firstMs);
    for (const pending of this.#pending) this.#stage(pending, firstMs, body, unit);
    this.#pending = this.#pending.filter(({ series, next }) => next < series.length);
    if (this.#pending.length > 0) return undefined;
    unit.accept(this.#dependencies.tenantName(body.tenant), body.wallMs, "metric", this.#imported);
    return this.#answer();
  }

  #read(body: Body): void {
    if (body.kind === BODY_IMPORT_REMOTE_WRITE_1 || body.kind === BODY_IMPORT_REMOTE_WRITE_2) return this.#readRemoteWrite(body);
    const text = textOfBody(body, this.#dependencies);
    if (text === undefined) throw new HistoryError("unprocessable", "the body is not valid UTF-8");
    if (body.kind === BODY_IMPORT_CSV) {
      const csv = new CsvHistory(this.#collector);
      csv.push(text);
      csv.end();
      return;
    }
    const scan = finished(scanJson(text, BOUNDS));
    if (!scan.ok) throw new HistoryError(scan.reason === "too_much" ? "batch_too_large" : "invalid_json", scan.message);
    const decoded = decodeJsonText(body, text, this.#dependencies);
    if (!decoded.ok) throw new HistoryError("invalid_json", decoded.message);
    if (decoded.halves && holdsHalfCharacter(decoded.value)) {
      throw new HistoryError("invalid_json", "the body holds half of a surrogate pair, which is no character; send whole characters");
    }
    readJsonHistory(decoded.value, this.#collector);
  }

  #readRemoteWrite(body: Body): void {
    const { memory, replicaLabels } = this.#dependencies;
    const bytes = readSnappyBlock(memory.slice(body.pointer, body.bytes), IMPORT_DECOMPRESSED_BYTES_MAX);
    if (bytes === undefined) {
      const most = IMPORT_DECOMPRESSED_BYTES_MAX / 2 ** 20;
      throw new HistoryError("unprocessable", `the body is not a snappy block of ${most} MiB at most; nothing of it was stored`);
    }
    readRemoteWriteHistory(bytes, body.kind === BODY_IMPORT_REMOTE_WRITE_1 ? 1 : 2, replicaLabels, this.#collector);
  }

  #stripped(series: HistorySeries): HistorySeries {
    const { attributes } = this.#dependencies.exclusions.strip({ attributes: series.attributes });
    return attributes === series.attributes ? series : { ...series, attributes: attributes ?? {} };
  }

  /** Stages the samples of a series that lie within the unit. */
  #stage(pending: PendingSeries, firstMs: number, body: Body, unit: WorkUnit): void {
    const { kernel, counters } = this.#dependencies;
    const { series } = pending;
    const beyondMs = firstMs + UNIT_MS;
    if ((series.times[pending.next] as number) >= beyondMs) return;
    pending.stream ??= this.#define(series, body, unit);
    if (pending.stream === undefined) {
      pending.next = series.length;
      return;
    }
    const { ref, destination } = pending.stream;
    const from = pending.next;
    let start = 0;
    for (; pending.next < series.length && (series.times[pending.next] as number) < beyondMs; pending.next++) {
      const offset = (series.times[pending.next] as number) - unit.baseMs;
      const sinceMs = series.starts?.[pending.next] ?? 0;
      if (sinceMs > 0 && sinceMs !== start) kernel.stageStart(destination, ref, offset, sinceMs);
      start = sinceMs;
      kernel.stageRow(destination, ref, offset, series.values[pending.next] as number);
    }
    this.#imported += pending.next - from;
    counters.add("samplesImported", pending.next - from);
  }

  #define(series: HistorySeries, body: Body, unit: WorkUnit): DefinedStream | undefined {
    const { serviceId, metricName, scope, length, serviceLabel = SERVICE_LABEL_FOREIGN } = series;
    const { tenant } = body;
    const environment = environmentOf(series.attributes);
    const isOther = scope !== undefined && this.#dependencies.scopes.isOther({ tenant, serviceId, environment, ...scope }, unit);
    const attributes = isOther ? scopedAttributes(series.attributes, scope.name) : series.attributes;
    const { definer, tenantName } = this.#dependencies;
    const name = nameOfRecord(tenantName(body.tenant), serviceId, metricName, attributes);
    const flags = flagsOfRecord("metric", metricName, attributes) | (serviceLabel << DEFINE_SERVICE_LABEL_SHIFT);
    const defined = definer.define(unit, body.tenant, name, flags);
    if (typeof defined !== "string") return defined;
    const at = () => `series ${serviceId} ${metricName}`;
    if (defined === "series_limit_exceeded") {
      this.#collector.refuse(at, defined, "this tenant has as many streams as SERIES_LIMIT allows; a new one is refused", length);
    } else this.#collector.refuse(at, "invalid_attributes", "the attributes of a series are too long together", length);
    return undefined;
  }

  #answer(): BodyAnswer {
    const { problems, refused } = this.#collector;
    const status = refused === 0 ? "ok" : "partial";
    const body = { status, imported: this.#imported, series: this.#series, failed: refused, failures: problems };
    return { status: 200, body: JSON.stringify(body) };
  }
}
