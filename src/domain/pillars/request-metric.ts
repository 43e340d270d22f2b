// Which metrics count the requests of a service.

import { familyOfMetric } from "../series/metric-family.ts";
import { nameWords } from "../series/name-words.ts";

const REQUEST_WORDS = new Set("request requests req reqs rpc rpcs call calls query queries".split(" "));
const SIZE_WORDS = new Set(["bytes", "size"]);
/** This server's own, of spans: requests of the whole service in 10 seconds. */
const DERIVED = "service.requests";

/** Whether values of the metric are requests since the value before; `counts`: it is a counter. */
export function isRequestCount(metricName: string, counts: boolean): boolean {
  if (!counts) return metricName === DERIVED;
  const words = nameWords(metricName);
  return (
    words.some((word) => REQUEST_WORDS.has(word)) && !words.some((word) => SIZE_WORDS.has(word)) && familyOfMetric(metricName) === "rate"
  );
}
