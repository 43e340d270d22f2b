// Series that two runs with the same input do not agree on.

/** Counts of logs: which closing a log belongs to follows from its arrival, and no two runs or servers have the same (sim/logs compares them). */
export function isOfArrival(metricName: unknown): boolean {
  return String(metricName).startsWith("log.");
}
