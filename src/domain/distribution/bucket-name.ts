// How the names of a classic histogram's buckets and of its family belong together.
import type { StreamName } from "../../core/protocol/coordinator-frame.ts";
import { ownAttribute } from "../series/stream-identity.ts";

const SUFFIX = "_bucket";
const BOUND = "le";

/** The base name that quantiles of the bucket's family go under, and the bucket's upper bound; undefined for a stream that is no bucket. */
export function bucketName(name: StreamName): { readonly family: StreamName; readonly bound: number } | undefined {
  const { metricName, attributes } = name;
  const le = ownAttribute(attributes, BOUND);
  if (!metricName.endsWith(SUFFIX) || metricName.length === SUFFIX.length) return undefined;
  const bound = boundOf(le);
  if (Number.isNaN(bound)) return undefined;
  const others = Object.fromEntries(Object.entries(attributes).filter(([attribute]) => attribute !== BOUND));
  return { family: { ...name, metricName: metricName.slice(0, -SUFFIX.length), attributes: others }, bound };
}

/** NaN for what is no bound. */
function boundOf(le: unknown): number {
  if (le === "+Inf" || le === "Inf") return Number.POSITIVE_INFINITY;
  const bound = typeof le === "string" && le.trim() !== "" ? Number(le) : le;
  return typeof bound === "number" && Number.isFinite(bound) ? bound : Number.NaN;
}
