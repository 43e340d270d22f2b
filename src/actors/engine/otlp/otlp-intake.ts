// Takes the OTLP items that are no number points into the unit of work: histograms and summaries as messages for the shard that owns them, spans as messages
// and blocks of records, logs as records of the form that JSON telemetry has, and counted.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import { logRecord } from "../../../domain/logs/log-record.ts";
import { severityOf } from "../../../domain/logs/severity.ts";
import type { DistributionPoint, ItemRefusal, OtlpConsumer, OtlpLog, OtlpSpan } from "../../../domain/otlp/otlp-items.ts";
import { refuseLog, refuseSpan } from "../../../domain/otlp/otlp-limits.ts";
import { retainedBody } from "../../../domain/series/cut-text.ts";
import { canonicalAttributes } from "../../../domain/series/stream-identity.ts";
import { DistributionIntake } from "../distributions/distribution-intake.ts";
import type { LogIntake } from "../logs/log-intake.ts";
import type { SpanIntake } from "../spans/span-intake.ts";
import type { Body } from "../unit/body.ts";
import { contentHash } from "../unit/content-hash.ts";
import { RecordIds } from "../unit/record-ids.ts";
import type { StreamDefiner } from "../unit/stream-definer.ts";
import type { WorkUnit } from "../unit/work-unit.ts";

export interface OtlpIntakeDependencies {
  readonly memory: EngineMemory;
  readonly kernel: IngestExports;
  readonly definer: StreamDefiner;
  readonly tenantName: (index: number) => string;
  readonly requestId: (admission: number) => string;
  readonly spans: SpanIntake;
  readonly logs: LogIntake;
}

/** The intake of one engine; enter() says into which unit the items of which body go. */
export class OtlpIntake implements OtlpConsumer {
  readonly #dependencies: OtlpIntakeDependencies;
  readonly #distributions: DistributionIntake;
  #body: Body | undefined;
  #unit: WorkUnit | undefined;
  readonly #ids: RecordIds;
  /** Place of the log at hand among those of its body. */
  #index = 0;

  constructor(dependencies: OtlpIntakeDependencies) {
    this.#dependencies = dependencies;
    this.#distributions = new DistributionIntake(dependencies.definer);
    this.#ids = new RecordIds({ ...dependencies, hash: (text) => contentHash(text, dependencies) });
  }

  /** A body begins. */
  begin(): void {
    this.#index = 0;
    this.#ids.begin();
  }

  /** The items that follow are that body's, wherever it lies by now, and go into that unit. */
  enter(body: Body, unit: WorkUnit): void {
    this.#body = body;
    this.#unit = unit;
  }

  distribution(input: DistributionPoint): ItemRefusal | undefined {
    const { tenant, wallMs } = this.#body as Body;
    const point = input.timeMs === 0 ? { ...input, timeMs: wallMs } : input;
    const source = { tenant, tenantName: this.#dependencies.tenantName(tenant), wallMs };
    const problem = this.#distributions.add(this.#unit as WorkUnit, source, point);
    return problem === undefined ? undefined : { ...problem, field: null };
  }

  span(input: OtlpSpan): ItemRefusal | undefined {
    const { tenant, wallMs } = this.#body as Body;
    const span = input.endMs === 0 ? { ...input, endMs: wallMs } : input;
    const { spans, tenantName } = this.#dependencies;
    return refuseSpan(span, wallMs) ?? spans.take(tenantName(tenant), span, this.#unit as WorkUnit);
  }

  log(input: OtlpLog): ItemRefusal | undefined {
    const { tenant, idempotencyKey, wallMs } = this.#body as Body;
    const { tenantName, logs } = this.#dependencies;
    const index = this.#index++;
    const hasTime = input.timeMs > 0;
    const timeMs = hasTime ? input.timeMs : logs.arrivalOf(tenantName(tenant), idempotencyKey, wallMs);
    const log = { ...input, body: retainedBody(input.body), timeMs };
    const refusal = refuseLog(log, wallMs);
    if (refusal === undefined) this.#keep(log, index, hasTime);
    return refusal;
  }

  /** Keeps and counts a log that may be taken. */
  #keep(log: OtlpLog, index: number, hasTime: boolean): void {
    const { tenantName, logs } = this.#dependencies;
    const body = this.#body as Body;
    const record = logRecord(log);
    const attributes = canonicalAttributes(record.attributes);
    const { serviceId, environment, traceId, spanId, timeMs, nanoseconds } = log;
    const content = ["log", log.eventName, serviceId, log.body, traceId, spanId, timeMs, nanoseconds];
    const id = this.#ids.idOf(body, index, hasTime ? JSON.stringify(content) + attributes : undefined);
    const [unit, tenant] = [this.#unit as WorkUnit, tenantName(body.tenant)];
    unit.addRecord({ tenant, id, timeMs, receivedMs: body.wallMs, environment, record });
    const severity = severityOf(log.severityNumber, log.severityText);
    logs.count(tenant, { serviceId, environment, timeMs, severity, body: log.body, id }, unit);
  }
}
