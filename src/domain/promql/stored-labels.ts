// Labels of stored streams: what a series of PromQL is called here. Everything that knows how names are stored for PromQL stands in this file.
import { ownMember } from "../../core/collections/own-member.ts";
import { SERVICE_LABEL_FOREIGN } from "../../core/layout/stream-record.ts";
import type { AttributeValue, StreamName } from "../../core/protocol/coordinator-frame.ts";
import type { LabelCondition } from "../../core/protocol/paged-streams.ts";
import { serviceLabelOf } from "../series/stream-identity.ts";
import { LabelMatcher } from "./labels/label-matcher.ts";
import { Labels, METRIC_NAME } from "./labels/labels.ts";

const SERVICE = "service_id";
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

/** Streams that a selector means. */
export class StreamSelection {
  readonly #matchers: readonly LabelMatcher[];

  constructor(matchers: readonly LabelMatcher[]) {
    this.#matchers = matchers;
  }

  /** The selection of conditions that were sent. Throws PatternError. */
  static of(conditions: readonly LabelCondition[]): StreamSelection {
    return new StreamSelection(conditions.map(({ name, operator, value }) => new LabelMatcher(name, operator, value)));
  }

  /** What is sent of it. */
  get conditions(): LabelCondition[] {
    return this.#matchers.map(({ name, operator, value }) => ({ name, operator, value }));
  }

  /** The one service whose streams it can mean; null where there may be several. */
  get serviceId(): string | null {
    const exact = this.#matchers.find(({ name, operator, value }) => name === SERVICE && operator === "=" && value !== "");
    return exact?.value ?? null;
  }

  /** Whether it means a stream. */
  means(name: NamedStream): boolean {
    return this.#matchers.every((matcher) => matcher.matches(labelOfStream(name, matcher.name)));
  }
}
