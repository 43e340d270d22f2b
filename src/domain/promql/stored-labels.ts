// Labels of stored streams: what a series of PromQL is called here. Everything that knows how names are stored for PromQL stands in this file.
import { ownMember } from "../../core/collections/own-member.ts";
import { SERVICE_LABEL_FOREIGN } from "../../core/layout/stream-record.ts";
import type { AttributeValue, StreamName } from "../../core/protocol/coordinator-frame.ts";
import { serviceLabelOf } from "../series/stream-identity.ts";
import { Labels, METRIC_NAME } from "./labels/labels.ts";

const ENVIRONMENT = "environment";

/** What of a stream becomes labels; `serviceLabel` is SR_SERVICE_LABEL of its record. */
type NamedStream = Pick<StreamName, "serviceId" | "environment" | "metricName" | "attributes"> & { readonly serviceLabel: number };

/**
 * The labels of a stream. Of a series of remote-write those that were sent, but for labels of replicas; of any other its metric's name, `service_id`, `environment` and
 * its attributes.
 */
export function labelsOfStream(name: NamedStream): Labels {
  const serviceLabel = serviceLabelOf(name.serviceLabel);
  const labels = [...Object.keys(name.attributes), METRIC_NAME, ENVIRONMENT, ...(serviceLabel === undefined ? [] : [serviceLabel])];
  return Labels.of([...new Set(labels)].map((label) => [label, labelOfStream(name, label)] as const));
}

/** One label of a stream; empty where it has none of that name. */
function labelOfStream(name: NamedStream, label: string): string {
  if (label === METRIC_NAME) return name.metricName;
  if (label === serviceLabelOf(name.serviceLabel)) return name.serviceId;
  if (label === ENVIRONMENT && name.serviceLabel === SERVICE_LABEL_FOREIGN && name.environment !== "") return name.environment;
  return valueText(ownMember(name.attributes, label) ?? null);
}

function valueText(value: AttributeValue): string {
  if (typeof value === "string") return value;
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
