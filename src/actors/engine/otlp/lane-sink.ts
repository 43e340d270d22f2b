// Takes the OTLP items that are no number points into the unit of work: histograms and summaries as messages for the shard that owns them, logs and spans
// as records of the form that JSON telemetry has.
import type { EngineMemory } from "../../../adapters/runtime/engine-memory.ts";
import { formatRfc3339 } from "../../../core/base/rfc3339.ts";
import type { Attributes } from "../../../core/protocol/coordinator-frame.ts";
import type { LaneExports } from "../../../domain/kernel/lane-kernel.ts";
import type { DistributionPoint, ItemRefusal, OtlpLog, OtlpSink, OtlpSpan } from "../../../domain/otlp/otlp-items.ts";
import { refuseLog, refuseSpan } from "../../../domain/otlp/otlp-limits.ts";
import { canonicalAttributes } from "../../../domain/series/stream-identity.ts";
import type { Body } from "../body.ts";
import { contentHash } from "../content-hash.ts";
import { DistributionSink } from "../distributions/distribution-sink.ts";
import type { StreamDefiner } from "../stream-definer.ts";
import type { WorkUnit } from "../work-unit.ts";

/** Canonical attributes of a record, as of JSON telemetry. */
const ATTRIBUTES_BYTES_MAX = 64 * 1024;
const SPAN_KINDS = ["unspecified", "internal", "server", "client", "producer", "consumer"] as const;
const STATUS_CODES = ["unset", "ok", "error"] as const;
/** First words of the ranges of SeverityNumber: 1..4 are TRACE, 21..24 FATAL. */
const SEVERITIES = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"] as const;

export interface LaneSinkDependencies {
  readonly memory: EngineMemory;
  readonly kernel: LaneExports;
  readonly definer: StreamDefiner;
  readonly tenantName: (index: number) => string;
}

/** A record of section 2.1 of the contract, the fields that it has. */
type StoredRecord = Readonly<Record<string, unknown>> & { readonly attributes: Attributes };

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
    const span = given.endMs === 0 ? { ...given, endMs: (this.#body as Body).wallMs } : given;
    const refusal = refuseSpan(span, (this.#body as Body).wallMs);
    if (refusal !== undefined) return refusal;
    return this.#keep(span.endMs, span.environment, ["span", span.traceId, span.spanId], {
      service_id: span.serviceId,
      type: "trace",
      metric_name: span.name,
      value: span.endMs - span.startMs,
      trace_id: span.traceId,
      timestamp: formatRfc3339(Math.floor(span.endMs)),
      attributes: spanAttributes(span),
    });
  }

  log(given: OtlpLog): ItemRefusal | undefined {
    const log = given.timeMs === 0 ? { ...given, timeMs: (this.#body as Body).wallMs } : given;
    const refusal = refuseLog(log, (this.#body as Body).wallMs);
    if (refusal !== undefined) return refusal;
    const attributes = logAttributes(log);
    const content = ["log", log.serviceId, log.body, log.traceId, log.spanId, given.timeMs, canonicalAttributes(attributes)];
    return this.#keep(log.timeMs, log.environment, content, {
      service_id: log.serviceId,
      type: "log",
      body: log.body,
      ...(log.traceId === "" ? {} : { trace_id: log.traceId }),
      timestamp: formatRfc3339(Math.floor(log.timeMs)),
      attributes,
    });
  }

  /** Adds a record; what `natural` says makes it that one, unless the request has an Idempotency-Key. */
  #keep(timeMs: number, environment: string, natural: readonly unknown[], record: StoredRecord): ItemRefusal | undefined {
    const { tenantName } = this.#dependencies;
    const body = this.#body as Body;
    const attributes = canonicalAttributes(record.attributes);
    if (attributes.length > ATTRIBUTES_BYTES_MAX) {
      const message = `attributes of an item take more than ${ATTRIBUTES_BYTES_MAX} bytes together; send fewer or shorter ones`;
      return { reason: "field_too_long", field: "attributes", message };
    }
    const tenant = tenantName(body.tenant);
    const content = body.idempotencyKey === "" ? [tenant, ...natural] : [tenant, body.idempotencyKey, this.#index++];
    (this.#unit as WorkUnit).addRecord({
      tenant,
      id: contentHash(JSON.stringify(content), this.#dependencies),
      timeMs: Math.floor(timeMs),
      receivedMs: body.wallMs,
      environment,
      record,
    });
    return undefined;
  }
}

/** Attributes of a span's record: those of its resource, its own, and its fields that a telemetry record has no place for. */
function spanAttributes(span: OtlpSpan): Attributes {
  return {
    ...span.resourceAttributes,
    ...span.attributes,
    span_id: span.spanId,
    ...(span.parentSpanId === "" ? {} : { parent_span_id: span.parentSpanId }),
    span_kind: SPAN_KINDS[span.kind] ?? "unspecified",
    status_code: STATUS_CODES[span.statusCode] ?? "unset",
  };
}

/** Attributes of a log's record, likewise. */
function logAttributes(log: OtlpLog): Attributes {
  const severity = log.severityText || SEVERITIES[Math.ceil(log.severityNumber / 4) - 1];
  return {
    ...log.resourceAttributes,
    ...log.attributes,
    ...(severity === undefined ? {} : { severity }),
    ...(log.severityNumber === 0 ? {} : { severity_number: log.severityNumber }),
    ...(log.spanId === "" ? {} : { span_id: log.spanId }),
  };
}
