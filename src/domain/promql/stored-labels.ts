// Labels of stored streams: what a series of PromQL is called here. Everything that knows how names are stored for PromQL stands in this file.
import { ownMember } from "../../core/collections/own-member.ts";
import type { AttributeValue, StreamName } from "../../core/protocol/coordinator-frame.ts";
import type { LabelCondition } from "../../core/protocol/paged-streams.ts";
import { LabelMatcher } from "./labels/label-matcher.ts";
import { Labels, METRIC_NAME } from "./labels/labels.ts";

const SERVICE = "service_id";
const ENVIRONMENT = "environment";

/** What of a stream's name becomes labels. */
type NamedStream = Pick<StreamName, "serviceId" | "environment" | "metricName" | "attributes">;

/** The labels of a stream: its metric's name, service and environment, and its attributes. */
export function labelsOfStream(name: NamedStream): Labels {
  const attributes = Object.keys(name.attributes).map((label) => [label, labelOfStream(name, label)] as const);
  return Labels.of([
    ...attributes,
    [METRIC_NAME, name.metricName],
    [SERVICE, name.serviceId],
    [ENVIRONMENT, labelOfStream(name, ENVIRONMENT)],
  ]);
}

/** One label of a stream; empty where it has none of that name. */
function labelOfStream(name: NamedStream, label: string): string {
  if (label === METRIC_NAME) return name.metricName;
  if (label === SERVICE) return name.serviceId;
  if (label === ENVIRONMENT && name.environment !== "") return name.environment;
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
