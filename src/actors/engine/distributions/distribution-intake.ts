// The ingest's side of histograms and summaries: a point that is in order goes into the unit of work as a message for the shard that owns its series.

import { ownMember } from "../../../core/collections/own-member.ts";
import {
  ATTRIBUTES_MAX,
  IDENTITY_BYTES_MAX,
  NAME_BYTES_MAX,
  TIMESTAMP_AGE_MS_MAX,
  TIMESTAMP_FUTURE_MS_MAX,
  VALUE_BYTES_MAX,
} from "../../../core/config/limits.ts";
import type { ValidationReason } from "../../../core/layout/counters.ts";
import { SECTION_DISTRIBUTION } from "../../../core/layout/row-frame.ts";
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import { MESSAGE_BYTES_MAX } from "../../../domain/codec/shard-message.ts";
import { COUNT_SUFFIX, SUFFIX_BYTES_MAX } from "../../../domain/distribution/derived-values.ts";
import { type DistributionProblem, distributionProblem } from "../../../domain/distribution/distribution.ts";
import { PointMessageWriter } from "../../../domain/distribution/point-message.ts";
import type { DistributionPoint } from "../../../domain/otlp/otlp-items.ts";
import { ADDED_IDENTITY_ATTRIBUTES } from "../../../domain/otlp/otlp-limits.ts";
import { partitionOf } from "../../../domain/placement/partition.ts";
import { flawText, nameFlaw } from "../../../domain/series/name-rule.ts";
import { isLongValue } from "../../../domain/series/retained-attributes.ts";
import { identityText } from "../../../domain/series/stream-identity.ts";
import type { StreamDefiner } from "../unit/stream-definer.ts";
import type { WorkUnit } from "../unit/work-unit.ts";

/** Whose points come, and when. */
export interface PointSource {
  /** Index and name. */
  readonly tenant: number;
  readonly tenantName: string;
  /** Wall clock milliseconds at which they came. */
  readonly wallMs: number;
}

/** Takes points for one engine. */
export class DistributionIntake {
  readonly #definer: Pick<StreamDefiner, "mayHave">;
  readonly #writer = new PointMessageWriter();
  readonly #encoder = new TextEncoder();

  constructor(definer: Pick<StreamDefiner, "mayHave">) {
    this.#definer = definer;
  }

  /** Adds a point to the unit, or says why not. A time is cut to whole milliseconds. */
  add(unit: Pick<WorkUnit, "addMessage">, source: PointSource, point: DistributionPoint): DistributionProblem | undefined {
    const { serviceId, environment, metricName, attributes } = point;
    const problem = nameProblem(point) ?? timeProblem(point, source.wallMs) ?? distributionProblem(point);
    if (problem !== undefined) return problem;
    const name: StreamName = { tenant: source.tenantName, environment, serviceId, metricName, attributes };
    const identity = this.#encoder.encode(identityText(name));
    if (identity.length > IDENTITY_BYTES_MAX - SUFFIX_BYTES_MAX)
      return refused("invalid_attributes", "the names and attributes of a point are too long together");
    if (!this.#definer.mayHave(source.tenant, { ...name, metricName: metricName + COUNT_SUFFIX }))
      return refused(
        "series_limit_exceeded",
        "this tenant has as many streams as SERIES_LIMIT allows; a new one is refused, existing ones go on",
      );
    const startMs = Number.isFinite(point.startMs) ? Math.max(0, Math.trunc(point.startMs)) : 0;
    const payload = this.#writer.write(identity, { ...point, timeMs: Math.trunc(point.timeMs), startMs });
    if (payload.length > MESSAGE_BYTES_MAX)
      return refused("field_too_long", `a point takes ${payload.length} bytes with its names; ${MESSAGE_BYTES_MAX} are possible`);
    unit.addMessage(SECTION_DISTRIBUTION, partitionOf(name.tenant, serviceId), payload);
    return undefined;
  }
}

function refused(reason: ValidationReason, message: string): DistributionProblem {
  return { reason, message };
}

function nameProblem({ metricName, serviceId, environment, attributes }: DistributionPoint): DistributionProblem | undefined {
  if (metricName === "") return refused("missing_metric_name", "a point has no metric name");
  if (serviceId === "") return refused("missing_service_id", "a point has no service");
  const names = Object.keys(attributes);
  if (names.length > ATTRIBUTES_MAX + ADDED_IDENTITY_ATTRIBUTES)
    return refused("invalid_attributes", `a point may have ${ATTRIBUTES_MAX} attributes, got ${names.length}`);
  for (const name of names) {
    const problem = flawProblem(name, "the name of an attribute", "invalid_attributes");
    if (problem !== undefined) return problem;
  }
  const long = names.find((name) => isLongValue(ownMember(attributes, name)));
  if (long !== undefined)
    return refused("invalid_attributes", `attribute ${JSON.stringify(long.slice(0, 60))} of a point may have ${VALUE_BYTES_MAX} bytes`);
  return (
    flawProblem(metricName, "the name of a histogram or summary", "invalid_record", NAME_BYTES_MAX - SUFFIX_BYTES_MAX) ??
    flawProblem(serviceId, "the name of a service", "invalid_record") ??
    flawProblem(environment, "the environment", "invalid_attributes")
  );
}

function flawProblem(
  name: string,
  what: string,
  reason: ValidationReason,
  bytesMax: number = NAME_BYTES_MAX,
): DistributionProblem | undefined {
  const flaw = nameFlaw(name, bytesMax);
  return flaw === undefined ? undefined : refused(flaw === "too_long" ? "field_too_long" : reason, `${what} ${flawText(flaw, bytesMax)}`);
}

function timeProblem({ timeMs }: DistributionPoint, wallMs: number): DistributionProblem | undefined {
  if (!Number.isFinite(timeMs)) return refused("invalid_timestamp", "a point has no time");
  if (timeMs < wallMs - TIMESTAMP_AGE_MS_MAX) return refused("timestamp_too_old", "a point is more than 24 h in the past");
  if (timeMs > wallMs + TIMESTAMP_FUTURE_MS_MAX) return refused("timestamp_in_future", "a point is more than 10 minutes in the future");
  return undefined;
}
