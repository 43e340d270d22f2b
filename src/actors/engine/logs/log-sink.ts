// The lane's side of logs: keeps each as a record, and gathers what the shard of its service counts.
import { formatRfc3339 } from "../../../core/base/rfc3339.ts";
import { isLongerThan } from "../../../core/base/utf8.ts";
import {
  ATTRIBUTES_MAX,
  LOG_BODY_BYTES_MAX,
  NAME_BYTES_MAX,
  TIMESTAMP_AGE_MS_MAX,
  TIMESTAMP_FUTURE_MS_MAX,
} from "../../../core/config/limits.ts";
import { SECTION_LOGS } from "../../../core/layout/row-frame.ts";
import { maskedText } from "../../../domain/logs/masked-text.ts";
import { SEVERITIES, severityOf } from "../../../domain/logs/severity.ts";
import type { OtlpLog } from "../../../domain/otlp/otlp-items.ts";
import { partitionOf } from "../../../domain/placement/partition.ts";
import { canonicalAttributes } from "../../../domain/series/stream-identity.ts";
import type { Refusal } from "../../../domain/series/telemetry-record.ts";
import { type ServiceName, WindowMessageWriter } from "../../../domain/window/window-message.ts";
import { windowOf } from "../../../domain/window/window-time.ts";
import { BASE_LEAD_MS, type MessageSource, type WorkUnit } from "../work-unit.ts";

/** A message leaves at this size: with one more log and its text, 1 KiB, it is still below MESSAGE_BYTES_MAX. */
const MESSAGE_BYTES_FULL = 8 * 1024;
/** Services remembered between units. */
const SERVICES_KEPT_MAX = 1_000;
/** Bytes of a log's attributes, as of a JSON record's. */
const ATTRIBUTES_BYTES_MAX = 64 * 1024;

export interface LogSinkDependencies {
  /** 32 hex digits of a text. */
  readonly hashText: (text: string) => string;
}

/** A log as it is counted. `id` is that of its record: the same log again has the same. */
export interface CountedLog {
  readonly serviceId: string;
  readonly environment: string;
  readonly timeMs: number;
  /** Place in SEVERITIES. */
  readonly severity: number;
  readonly body: string;
  /** 32 hex digits. */
  readonly id: string;
}

interface Source extends ServiceName {
  readonly partition: number;
  readonly message: WindowMessageWriter;
}

/** Takes the logs of one lane. */
export class LogSink implements MessageSource {
  readonly #dependencies: LogSinkDependencies;
  readonly #sources = new Map<string, Source>();
  #begun: Source[] = [];

  constructor(dependencies: LogSinkDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes a log of OTLP into the unit at hand; `tenant` is its name. Answers why it is refused, undefined when it is not. */
  take(tenant: string, log: OtlpLog, unit: WorkUnit): Omit<Refusal, "type"> | undefined {
    const wallMs = unit.baseMs + BASE_LEAD_MS;
    const timeMs = log.timeMs > 0 ? Math.floor(log.timeMs) : wallMs;
    const attributes = canonicalAttributes(log.attributes);
    const resource = canonicalAttributes(log.resourceAttributes);
    const refusal = refuseTime(timeMs, wallMs) ?? refuseNames(log) ?? refuseContent(log, attributes.length + resource.length);
    if (refusal !== undefined) return refusal;
    const { serviceId, environment, body, traceId, spanId, severityNumber, severityText } = log;
    const severity = severityOf(severityNumber, severityText);
    const content = [tenant, serviceId, "log", environment, timeMs, severityNumber, severityText, body, traceId, spanId];
    const id = this.#dependencies.hashText(JSON.stringify(content) + attributes + resource);
    unit.addRecord({ tenant, id, timeMs, receivedMs: wallMs, environment, record: storedLog(log, timeMs, severity) });
    this.count(tenant, { serviceId, environment, timeMs, severity, body, id }, unit);
    return undefined;
  }

  /** Counts a log that has been judged and is kept as a record. */
  count(tenant: string, { serviceId, environment, timeMs, severity, body, id }: CountedLog, unit: WorkUnit): void {
    const source = this.#source(tenant, environment, serviceId);
    const { message } = source;
    const window = windowOf(timeMs);
    unit.addSource(this);
    if (message.bytes > MESSAGE_BYTES_FULL) unit.addMessage(SECTION_LOGS, source.partition, message.finish());
    else if (message.bytes === 0) this.#begun.push(source);
    if (message.bytes === 0) message.begin(source, window);
    message.add(maskedText(body), severity, window, 0, Number.parseInt(id.slice(0, 8), 16), Number.parseInt(id.slice(8, 16), 16));
  }

  /** Adds what has been gathered. */
  addMessages(unit: WorkUnit): void {
    for (const source of this.#begun) unit.addMessage(SECTION_LOGS, source.partition, source.message.finish());
    this.#begun = [];
    if (this.#sources.size > SERVICES_KEPT_MAX) this.#sources.clear();
  }

  #source(tenant: string, environment: string, serviceId: string): Source {
    const key = JSON.stringify([tenant, environment, serviceId]);
    let source = this.#sources.get(key);
    if (source === undefined) {
      source = { tenant, environment, serviceId, partition: partitionOf(tenant, serviceId), message: new WindowMessageWriter() };
      this.#sources.set(key, source);
    }
    return source;
  }
}

/** The record as lists show it. */
function storedLog(log: OtlpLog, timeMs: number, severity: number): Record<string, unknown> {
  return {
    service_id: log.serviceId,
    type: "log",
    body: log.body,
    severity: SEVERITIES[severity],
    ...(log.severityText === "" ? {} : { severity_text: log.severityText }),
    ...(log.severityNumber === 0 ? {} : { severity_number: log.severityNumber }),
    ...(log.traceId === "" ? {} : { trace_id: log.traceId }),
    ...(log.spanId === "" ? {} : { span_id: log.spanId }),
    timestamp: formatRfc3339(timeMs),
    attributes: log.attributes,
    resource: log.resourceAttributes,
  };
}

function refuseTime(timeMs: number, wallMs: number): Omit<Refusal, "type"> | undefined {
  const field = "time_unix_nano";
  if (!Number.isFinite(timeMs))
    return { reason: "invalid_timestamp", field, message: "the log's time is none; send nanoseconds since 1970" };
  if (timeMs < wallMs - TIMESTAMP_AGE_MS_MAX)
    return { reason: "timestamp_too_old", field, message: "the log is more than 24 h old; import older data instead" };
  if (timeMs <= wallMs + TIMESTAMP_FUTURE_MS_MAX) return undefined;
  return { reason: "timestamp_in_future", field, message: "the log is more than 10 minutes in the future; check the sender's clock" };
}

function refuseNames({ serviceId, environment }: OtlpLog): Omit<Refusal, "type"> | undefined {
  if (serviceId === "") return { reason: "missing_service_id", field: "service.name", message: "the log's resource names no service" };
  const field = isLongerThan(serviceId, NAME_BYTES_MAX) ? "service.name" : "deployment.environment.name";
  if (field !== "service.name" && !isLongerThan(environment, NAME_BYTES_MAX)) return undefined;
  return { reason: "field_too_long", field, message: `${field} may have ${NAME_BYTES_MAX} bytes` };
}

function refuseContent({ body, attributes }: OtlpLog, attributesLength: number): Omit<Refusal, "type"> | undefined {
  if (isLongerThan(body, LOG_BODY_BYTES_MAX)) {
    const message = `the body of a log may have ${LOG_BODY_BYTES_MAX} bytes, got ${body.length} characters; send less of it`;
    return { reason: "field_too_long", field: "body", message };
  }
  const names = Object.keys(attributes).length;
  if (names > ATTRIBUTES_MAX) {
    return { reason: "invalid_attributes", field: "attributes", message: `a log may have ${ATTRIBUTES_MAX} attributes, got ${names}` };
  }
  if (attributesLength <= ATTRIBUTES_BYTES_MAX) return undefined;
  return { reason: "field_too_long", field: "attributes", message: `attributes may have ${ATTRIBUTES_BYTES_MAX} bytes together` };
}
