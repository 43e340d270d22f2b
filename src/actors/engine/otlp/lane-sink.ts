// Takes the OTLP items that are no number points into the unit of work: histograms and summaries as messages for the shard that owns them, spans as messages
// and blocks of records, logs as records of the form that JSON telemetry has, and counted.
import type { EngineMemory } from "../../../adapters/runtime/engine-memory.ts";
import type { LaneExports } from "../../../domain/kernel/lane-kernel.ts";
import { type LogRecord, logRecord } from "../../../domain/logs/log-record.ts";
import { severityOf } from "../../../domain/logs/severity.ts";
import type { DistributionPoint, ItemRefusal, OtlpLog, OtlpSink, OtlpSpan } from "../../../domain/otlp/otlp-items.ts";
import { refuseLog, refuseSpan } from "../../../domain/otlp/otlp-limits.ts";
import { keptBody } from "../../../domain/series/kept-body.ts";
import { canonicalAttributes } from "../../../domain/series/stream-identity.ts";
import { DistributionSink } from "../distributions/distribution-sink.ts";
import type { CountedLog, LogSink } from "../logs/log-sink.ts";
import type { SpanSink } from "../spans/span-sink.ts";
import type { Body } from "../unit/body.ts";
import { contentHash } from "../unit/content-hash.ts";
import type { StreamDefiner } from "../unit/stream-definer.ts";
import type { WorkUnit } from "../unit/work-unit.ts";

/** Canonical attributes of a record, as of JSON telemetry. */
const ATTRIBUTES_BYTES_MAX = 64 * 1024;

export interface LaneSinkDependencies {
  readonly memory: EngineMemory;
  readonly kernel: LaneExports;
  readonly definer: StreamDefiner;
  readonly tenantName: (index: number) => string;
  readonly spans: SpanSink;
  readonly logs: LogSink;
}

/** The sink of one lane; enter() says into which unit the items of which body go. */
export class LaneSink implements OtlpSink {
  readonly #dependencies: LaneSinkDependencies;
  readonly #distributions: DistributionSink;
  #body: Body | undefined;
  #unit: WorkUnit | undefined;
  /** Place of the item in its body. */
  #index = 0;

  constructor(dependencies: LaneSinkDependencies) {
    this.#dependencies = dependencies;
    this.#distributions = new DistributionSink(dependencies.definer);
  }

  enter(body: Body, unit: WorkUnit): void {
    if (this.#body !== body) this.#index = 0;
    this.#body = body;
    this.#unit = unit;
  }

  distribution(given: DistributionPoint): ItemRefusal | undefined {
    const { tenant, wallMs } = this.#body as Body;
    const point = given.timeMs === 0 ? { ...given, timeMs: wallMs } : given;
    const source = { tenant, tenantName: this.#dependencies.tenantName(tenant), wallMs };
    const problem = this.#distributions.add(this.#unit as WorkUnit, source, point);
    return problem === undefined ? undefined : { ...problem, field: null };
  }

  span(given: OtlpSpan): ItemRefusal | undefined {
    const { tenant, wallMs } = this.#body as Body;
    const span = given.endMs === 0 ? { ...given, endMs: wallMs } : given;
    const { spans, tenantName } = this.#dependencies;
    return refuseSpan(span, wallMs) ?? spans.take(tenantName(tenant), span, this.#unit as WorkUnit);
  }

  log(given: OtlpLog): ItemRefusal | undefined {
    const log = { ...given, body: keptBody(given.body), timeMs: given.timeMs === 0 ? (this.#body as Body).wallMs : given.timeMs };
    const refusal = refuseLog(log, (this.#body as Body).wallMs);
    if (refusal !== undefined) return refusal;
    const record = logRecord(log);
    const content = ["log", log.serviceId, log.body, log.traceId, log.spanId, given.timeMs, canonicalAttributes(record.attributes)];
    const counted = { ...log, timeMs: Math.floor(log.timeMs), severity: severityOf(log.severityNumber, log.severityText) };
    return this.#keep(counted, content, record);
  }

  /** Keeps and counts a log; what `natural` says makes it that one, unless the request has an Idempotency-Key. */
  #keep(log: Omit<CountedLog, "id">, natural: readonly unknown[], record: LogRecord): ItemRefusal | undefined {
    const { tenantName, logs } = this.#dependencies;
    const body = this.#body as Body;
    const attributes = canonicalAttributes(record.attributes);
    if (attributes.length > ATTRIBUTES_BYTES_MAX) {
      const message = `attributes of an item take more than ${ATTRIBUTES_BYTES_MAX} bytes together; send fewer or shorter ones`;
      return { reason: "field_too_long", field: "attributes", message };
    }
    const tenant = tenantName(body.tenant);
    const content = body.idempotencyKey === "" ? [tenant, ...natural] : [tenant, body.idempotencyKey, this.#index++];
    const id = contentHash(JSON.stringify(content), this.#dependencies);
    const unit = this.#unit as WorkUnit;
    unit.addRecord({ tenant, id, timeMs: log.timeMs, receivedMs: body.wallMs, environment: log.environment, record });
    logs.count(tenant, { ...log, id }, unit);
    return undefined;
  }
}
