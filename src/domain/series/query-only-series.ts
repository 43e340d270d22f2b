// Series that are kept for queries alone: the buckets, the count and the sum of a histogram of OTLP. Its quantiles are judged instead. Their identity has an
// attribute that no sender can name, so that they are never one stream with a series that is judged.
import { ownMember } from "../../core/collections/own-member.ts";
import { DEFINE_SERVICE_LABEL_SHIFT } from "../../core/layout/row-frame.ts";
import { FLAG_COUNTER, SERVICE_LABEL_QUERY_ONLY } from "../../core/layout/stream-record.ts";
import type { StreamName } from "../../core/protocol/coordinator-frame.ts";

/** A line break: no name has one (name-rule.ts). It is no label of the series. */
export const QUERY_ONLY = "\n";

const LABEL = SERVICE_LABEL_QUERY_ONLY << DEFINE_SERVICE_LABEL_SHIFT;
/** Flags of the definition of such a series: all are counters. */
export const QUERY_ONLY_COUNTER = FLAG_COUNTER | LABEL;

/** The name of such a series, of a metric with these attributes. */
export function queryOnlyName(name: StreamName, suffix: string, attributes: Readonly<Record<string, string>> = {}): StreamName {
  return { ...name, metricName: name.metricName + suffix, attributes: { ...name.attributes, ...attributes, [QUERY_ONLY]: true } };
}

export function isQueryOnly({ attributes }: Pick<StreamName, "attributes">): boolean {
  return ownMember(attributes, QUERY_ONLY) !== undefined;
}

/** What the definition of a stored stream says beside its state. */
export function storedFlags(name: Pick<StreamName, "attributes">): number {
  return isQueryOnly(name) ? LABEL : 0;
}
