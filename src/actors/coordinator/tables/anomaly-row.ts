// An anomaly as a stored value: its fields in a fixed order without their names, and without the sentence that explains it where its verdict gives that
// sentence again. With the table's dictionary (anomaly-dictionary.ts) it takes a third of its JSON.
import { explain, type Verdict } from "../../../domain/detection/verdict.ts";
import type { Anomaly } from "../../../domain/incident/anomaly.ts";
import { decodeStored, encodeStored } from "./stored-json.ts";

/** Part of the format. */
const FIELDS = [
  "id",
  "tenant",
  "environment",
  "serviceId",
  "metricName",
  "direction",
  "detector",
  "startedAtMs",
  "detectedAtMs",
  "observedAtMs",
  "resolvedAtMs",
  "resolvedBy",
  "z",
  "streams",
  "openStreams",
  "explanation",
  "attributes",
  "verdict",
  "paging",
  "feedback",
] as const satisfies ReadonlyArray<keyof Anomaly>;

/** Encodes an anomaly; `decodeAnomaly` gives it back equal. */
export function encodeAnomaly(anomaly: Anomaly): Uint8Array {
  const explanation = anomaly.explanation === sentenceOf(anomaly) ? null : anomaly.explanation;
  const row = { ...anomaly, explanation };
  return encodeStored(FIELDS.map((field) => row[field]));
}

/** Throws on another version. */
export function decodeAnomaly(bytes: Uint8Array): Anomaly {
  const values = decodeStored<unknown[]>(bytes);
  const anomaly = Object.fromEntries(FIELDS.map((field, i) => [field, values[i] ?? null])) as unknown as Anomaly;
  return anomaly.explanation === null ? { ...anomaly, explanation: sentenceOf(anomaly) as string } : anomaly;
}

/** What the detector would say of the verdict; undefined where it is no verdict of a z-score. */
function sentenceOf({ detector, verdict, metricName }: Anomaly): string | undefined {
  const hasBaseline = typeof verdict === "object" && verdict !== null && "baseline" in verdict;
  return detector === "z_score" && hasBaseline ? explain(verdict as Verdict, { metricName }) : undefined;
}
