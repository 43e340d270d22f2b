// Why series and samples of remote-write are refused, in words for their sender.
import { ATTRIBUTES_MAX, VALUE_BYTES_MAX } from "../../core/config/limits.ts";
import type { ValidationReason } from "../../core/layout/counters.ts";
import { REJECT_TOO_OLD } from "../../core/layout/kernel-event.ts";
import { isLongerThan } from "../../core/text/utf8.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { flawText, nameFlaw } from "../series/name-rule.ts";
import { nameOfLabels } from "../series/stream-identity.ts";

/** Labels as they were sent. */
export type Labels = ReadonlyArray<readonly [string, string]>;

/** Why samples are refused. */
export interface SampleProblem {
  readonly reason: ValidationReason;
  readonly message: string;
}

export const LABELS_NOT_UTF8: SampleProblem = { reason: "invalid_attributes", message: "the labels of a series are not valid UTF-8" };

/** Error of the labels of a series. A label without a value is none. */
export function labelProblem(input: Labels): SampleProblem | undefined {
  const labels = input.filter(([, value]) => value !== "");
  if (labels.length > ATTRIBUTES_MAX + 1) {
    return { reason: "invalid_attributes", message: `a series may have ${ATTRIBUTES_MAX} labels, got ${labels.length}` };
  }
  const names = new Set<string>();
  for (const [name, value] of labels) {
    if (names.has(name)) return { reason: "invalid_attributes", message: `label ${name.slice(0, 60)} comes twice in one series` };
    names.add(name);
    const problem = flawProblem(name, "the name of a label");
    if (problem !== undefined) return problem;
    if (name !== "__name__" && isLongerThan(value, VALUE_BYTES_MAX)) {
      return { reason: "invalid_attributes", message: `label ${name.slice(0, 60)} is longer than ${VALUE_BYTES_MAX} bytes` };
    }
  }
  const { metricName, serviceId, environment } = nameOfLabels("", labels);
  if (metricName === "") return { reason: "missing_metric_name", message: "a series has no __name__ label" };
  return (
    flawProblem(metricName, "__name__") ??
    flawProblem(serviceId, "the label of the service") ??
    flawProblem(environment, "the label of the environment")
  );
}

/** Error of a name that is none. */
export function flawProblem(name: string, what: string): SampleProblem | undefined {
  const flaw = nameFlaw(name);
  if (flaw === undefined) return undefined;
  return {
    reason: flaw === "too_long" ? "field_too_long" : "invalid_attributes",
    message: `${what} ${flawText(flaw)}; got ${JSON.stringify(name.slice(0, 60))}`,
  };
}

/** Error of a sample that the kernel rejected. */
export function describeReject(code: number, labels: Labels, timeMs: number): SampleProblem {
  const name = labels.find(([label]) => label === "__name__")?.[1] ?? "a series";
  const time = Number.isSafeInteger(timeMs) ? formatRfc3339(timeMs) : String(timeMs);
  if (code === REJECT_TOO_OLD) return { reason: "timestamp_too_old", message: `${name} at ${time} is more than 24 h in the past` };
  return { reason: "timestamp_in_future", message: `${name} at ${time} is more than 10 minutes in the future` };
}
