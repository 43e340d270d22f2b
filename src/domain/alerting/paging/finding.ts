// What the pipeline to a page is asked about: one anomaly as it is opened, opened again or raised.
import { setMember } from "../../../core/collections/own-member.ts";
import type { Attributes, AttributeValue } from "../../../core/protocol/coordinator-frame.ts";
import type { Sentence } from "../../anomaly/sentence.ts";
import { alertFingerprint } from "../../anomaly/webhook-alert.ts";
import type { Tier } from "../../detection/anomaly-score.ts";
import type { Labels } from "../label-matcher.ts";
import type { Effect } from "../severity.ts";
import { familyOfDetector } from "./detector-family.ts";

export interface Finding {
  /** Raised: it is open already, and its peak has grown. */
  readonly kind: "opened" | "reopened" | "raised";
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly attributes: Attributes;
  readonly anomalyId: string;
  readonly detector: string;
  /** Whether the series is of the operation class (rule 1.1.8). */
  readonly operation: boolean;
  /** Its detector calls it rare for the series or service, by its own tail: people are informed of it. */
  readonly isRare?: boolean;
  /** So far out, of a young series, that others of its service as far out confirm it. */
  readonly isFarOut?: boolean;
  /** Though layer 1 knows few of its values, its long baseline knows many. */
  readonly hasLongBaseline?: boolean;
  /** Signed equivalent z of the peak. */
  readonly z: number;
  /** z that its detector declared it above. */
  readonly threshold: number;
  /** Values that it was compared with. */
  readonly baselineValues: number;
  /** What a statistic has found, which its severity follows from; absent where a rule, a person or another system says that by its z. */
  readonly effect?: Effect | undefined;
  /** Services of a cascade, its root included; empty for all other findings. */
  readonly services: readonly string[];
  readonly explanation: Sentence;
  /** Metrics that a finding on a service's metrics together names; absent of all other findings. */
  readonly named?: readonly string[];
  /** The alert that it belongs to already. */
  readonly alertId: string | null;
  /** That it was decided on with last, with what the ensemble raised it by; null where it was not. */
  readonly tierBefore: Tier | null;
  /** Time of the value that its anomaly began with. */
  readonly startedAtMs: number;
  /** When its anomaly fired. */
  readonly firedAtMs: number;
  /** Now. */
  readonly atMs: number;
}

/** The labels that silences and inhibitions match: what the finding is, and its attributes where they are named otherwise. */
export function labelsOf(finding: Finding, tier: Tier): Labels {
  const { serviceId, metricName, environment, detector, attributes } = finding;
  const labels: Record<string, string> = {};
  for (const [name, value] of Object.entries(attributes)) if (isScalar(value)) setMember(labels, name, String(value));
  const family = familyOfDetector(detector);
  return Object.assign(labels, {
    ...(family === "external" && { fingerprint: alertFingerprint(finding.tenant, attributes) }),
    service_id: serviceId,
    metric_name: metricName,
    environment,
    detector,
    family,
    severity: tier,
  });
}

function isScalar(value: AttributeValue): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
