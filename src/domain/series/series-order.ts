// The order in which streams are listed: by service, metric, environment and attributes.
import type { StreamName } from "../../core/protocol/coordinator-frame.ts";
import type { SeriesKey, SeriesQuery } from "../../core/protocol/engine-control.ts";
import { canonicalAttributes } from "./stream-identity.ts";

/** Position of a stream in lists. */
export function seriesKey(name: StreamName): SeriesKey {
  return [name.serviceId, name.metricName, name.environment, canonicalAttributes(name.attributes)];
}

/** Compares positions part by part, by UTF-16 code units. */
export function compareSeriesKeys(a: SeriesKey, b: SeriesKey): number {
  for (const [part, text] of a.entries()) {
    const other = b[part] as string;
    if (text !== other) return text < other ? -1 : 1;
  }
  return 0;
}

/** Whether a stream is among those that a list asks for; null and an absent part ask for all. */
export function matchesNames(
  name: StreamName,
  { metricName, environment, part }: Pick<SeriesQuery, "metricName" | "environment" | "part">,
): boolean {
  return (
    (metricName === null || name.metricName === metricName) &&
    (environment === null || name.environment === environment) &&
    (part === undefined || name.metricName.toLowerCase().includes(part) || name.serviceId.toLowerCase().includes(part))
  );
}
