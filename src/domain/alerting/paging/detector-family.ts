// Which family a detector belongs to, and what the rule of warm-up calls its findings. Detectors of one family look at the same thing and share an alert.
import type { Signal } from "../../detection/gates/warm-up.ts";
import type { DetectorFamily } from "../ensemble.ts";

const FAMILIES: ReadonlyMap<string, DetectorFamily> = new Map<string, DetectorFamily>([
  ["z_score", "metric"],
  ["adaptive", "metric"],
  ["isolation_forest", "multivariate"],
  ["saturation", "saturation"],
  ["slo_burn", "slo_burn"],
  ["stale", "stale"],
  ["stale_service", "stale"],
  ["cascade", "cascade"],
  ["logs", "logs"],
  ["external", "external"],
  ["manual", "manual"],
]);

const SIGNALS: Readonly<Record<Exclude<DetectorFamily, "metric">, Signal>> = {
  multivariate: "isolation_forest",
  saturation: "saturation",
  slo_burn: "slo_burn",
  stale: "stale_service",
  cascade: "cascade",
  logs: "adaptive",
  external: "external_alert",
  manual: "manual_override",
};

/** Families by which people and other systems speak: their alerts keep an identity of their own, and are part of no incident of ours. */
export const OWN_IDENTITY: ReadonlySet<string> = new Set<DetectorFamily>(["manual", "external"]);

/** The family of a detector; one that is not known here judges single metrics. */
export function familyOfDetector(detector: string): DetectorFamily {
  return FAMILIES.get(detector) ?? "metric";
}

/** Who has raised a finding, as rule 1.1.9 divides them; `operation`: of an operation-class series. */
export function signalOfDetector(detector: string, operation: boolean): Signal {
  const family = familyOfDetector(detector);
  if (family !== "metric") return SIGNALS[family];
  if (detector === "adaptive") return "adaptive";
  return operation ? "operation_z" : "named_metric_z";
}
