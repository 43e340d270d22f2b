// Number points ▶ rows, for those that the kernel's walk does not stage: points in JSON, of odd bodies, and the first of each stream.
// Sketch: 2 us a point of a known stream, 10 us a new stream.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { IDENTITY_BYTES_MAX } from "../../../core/config/limits.ts";
import { STATUS_OK, STATUS_TABLE_FULL } from "../../../core/layout/kernel-status.ts";
import { SCRATCH, SCRATCH_BYTES } from "../../../core/layout/memory-map.ts";
import type { Attributes } from "../../../core/protocol/coordinator-frame.ts";
import { formatRfc3339 } from "../../../core/time/rfc3339.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";
import { attempt } from "../../../domain/otlp/json-values.ts";
import type { ItemRefusal, NumberPoint } from "../../../domain/otlp/otlp-items.ts";
import { refusePoint, refuseValue } from "../../../domain/otlp/otlp-limits.ts";
import { flagsOfPoint } from "../../../domain/series/classification.ts";
import { environmentOf } from "../../../domain/series/stream-identity.ts";
import type { Body } from "../unit/body.ts";
import type { LabelIntake } from "../unit/label-intake.ts";
import type { MetricDescriptions } from "../unit/metric-descriptions.ts";
import type { DefinedStream, StreamDefiner } from "../unit/stream-definer.ts";
import type { WorkUnit } from "../unit/work-unit.ts";

export interface NumberPointsDependencies {
  readonly memory: EngineMemory;
  readonly kernel: IngestExports;
  readonly definer: StreamDefiner;
  readonly labels: LabelIntake;
  readonly descriptions: MetricDescriptions;
  readonly tenantName: (index: number) => string;
}

/** Rows that one point may take: a counter's start marker and its value. */
export const POINT_ROWS_MAX = 2;

/** Stages number points for one engine. */
export class NumberPoints {
  readonly #options: { readonly convertsCounters: boolean };
  readonly #dependencies: NumberPointsDependencies;
  readonly #scratch: Buffer;
  /** Common beginning of the keys of one metric's points. */
  #metric: (Pick<NumberPoint, "source" | "metricName" | "scope" | "isCounter"> & { readonly key: string }) | undefined;

  constructor(options: { readonly convertsCounters: boolean }, dependencies: NumberPointsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#scratch = dependencies.memory.slice(SCRATCH, SCRATCH_BYTES / 2);
  }

  /** Stages a point, whose stream may be new; or says why not. */
  take(input: NumberPoint, body: Body, unit: WorkUnit): ItemRefusal | undefined {
    const { kernel } = this.#dependencies;
    const point = input.timeMs === 0 ? { ...input, timeMs: body.wallMs } : input;
    const key = this.#keyOf(point);
    if (key.length > IDENTITY_BYTES_MAX * 2) return TOO_LONG;
    const bytes = this.#scratch.write(key);
    if (kernel.keyLookup(SCRATCH, bytes, body.tenant) !== 1) {
      const defined = this.define(point, body, unit);
      if ("reason" in defined) return defined;
      if (kernel.keyInsert(defined.ref, defined.destination, defined.partition) === STATUS_TABLE_FULL) {
        kernel.keyTableClear();
        kernel.keyInsert(defined.ref, defined.destination, defined.partition);
      }
    } else {
      // The key is the same whatever else the resource has, so a resource that is refused may name a known stream.
      const refusal =
        point.source.resourceRefusal ??
        refuseValue(point.value, point.hasValue, point.isStale) ??
        refusePoint({ ...point, attributes: {} }, body.wallMs);
      if (refusal !== undefined) return refusal;
    }
    this.#stage(point, unit);
    return undefined;
  }

  /** A ref for a point's stream, which the ingest table does not hold under the key that was looked up last; or why the point is refused. */
  define(point: NumberPoint, body: Body, unit: WorkUnit): DefinedStream | ItemRefusal {
    const attributes = attempt(point.attributes);
    if (typeof attributes === "string") return { reason: "invalid_attributes", field: "attributes", message: attributes };
    const { source, metricName, timeMs } = point;
    const { serviceId } = source;
    const refusal =
      source.resourceRefusal ??
      refuseValue(point.value, point.hasValue, point.isStale) ??
      refusePoint({ metricName, attributes, timeMs: timeMs === 0 ? body.wallMs : timeMs }, body.wallMs);
    if (refusal !== undefined) return refusal;
    const tenant = this.#dependencies.tenantName(body.tenant);
    const name = { tenant, environment: environmentOf(attributes), serviceId, metricName, attributes };
    const defined = this.#dependencies.definer.define(unit, body.tenant, name, flagsOfPoint(metricName, point.isCounter));
    if (defined === "identity_too_long") return TOO_LONG;
    if (defined === "series_limit_exceeded") return LIMIT_EXCEEDED;
    this.#dependencies.labels.takeAttributes(tenant, serviceId, source.resourceAttributes, unit);
    this.#dependencies.descriptions.take(tenant, point, body.wallMs, unit);
    return defined;
  }

  #keyOf(point: NumberPoint): string {
    const { source, metricName, scope, isCounter } = point;
    const known = this.#metric;
    const isKnown = known?.source === source && known.metricName === metricName && known.scope === scope && known.isCounter === isCounter;
    if (isKnown) return known.key + point.spelling;
    const context = JSON.stringify([source.serviceId, source.environment, source.identity, metricName, scope]);
    const key = `O${isCounter ? 1 : 0}${context}`;
    this.#metric = { source, metricName, scope, isCounter, key };
    return key + point.spelling;
  }

  /** Stages the point in the stream that was found or inserted last. */
  #stage(point: NumberPoint, unit: WorkUnit): void {
    const { kernel } = this.#dependencies;
    const destination = kernel.foundDestination();
    const ref = kernel.foundRef();
    const offset = point.timeMs - unit.baseMs;
    if (point.isStale) {
      kernel.stageStale(destination, ref, offset);
      return;
    }
    const counts = point.isCounter && this.#options.convertsCounters && point.startMs > 0;
    if (counts && kernel.keyStartMovedMs(point.startMs) === 1) kernel.stageStart(destination, ref, offset, point.startMs);
    if (kernel.stageRow(destination, ref, offset, point.value) !== STATUS_OK)
      throw new Error("a unit of work was begun without room for a point");
  }
}

const TOO_LONG: ItemRefusal = {
  reason: "invalid_attributes",
  field: "attributes",
  message: `names and attributes of a point may have ${IDENTITY_BYTES_MAX} bytes together; send fewer or shorter ones`,
};
const LIMIT_EXCEEDED: ItemRefusal = {
  reason: "series_limit_exceeded",
  field: null,
  message: "this tenant has as many streams as SERIES_LIMIT allows; a new one is refused, existing ones go on",
};

/** The point as a telemetry record, for the dead letters. */
export function recordOfPoint(point: NumberPoint): unknown {
  const attributes = attempt(point.attributes);
  const readable: Attributes = typeof attributes === "string" ? {} : attributes;
  return {
    service_id: point.source.serviceId,
    type: "metric",
    metric_name: point.metricName,
    value: Number.isFinite(point.value) ? point.value : String(point.value),
    timestamp: formatRfc3339(point.timeMs),
    attributes: point.isCounter ? { ...readable, metric_type: "counter" } : readable,
  };
}
