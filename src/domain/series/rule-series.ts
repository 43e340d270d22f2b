// Series in which rules keep their own alerts, here or in a Prometheus that sends them: they are stored, and nothing judges them.

const RULE_SERIES: ReadonlySet<string> = new Set(["ALERTS", "ALERTS_FOR_STATE"]);
/** What the identity of each of them has in it (stream-identity.ts). */
const MARK = Buffer.from('"ALERTS');

/** Whether a metric is one of them. */
export function isRuleSeries(metricName: string): boolean {
  return RULE_SERIES.has(metricName);
}

/** Whether an identity may be of one: quick to say, before its names are read. */
export function mayBeRuleSeries(identity: Uint8Array): boolean {
  return Buffer.from(identity.buffer, identity.byteOffset, identity.byteLength).includes(MARK);
}
