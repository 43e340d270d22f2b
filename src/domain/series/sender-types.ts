// Types that senders give a metric besides the one that others give it. Metadata of remote-write 1.0 name a metric and no series, so what a series of them is
// follows from who sent both; a sender that says two types of one name (one Prometheus whose targets disagree) has none for it.
import { METADATA_SENDERS_MAX, METADATA_TYPE_HOLD_MS } from "../../core/config/metric-limits.ts";
import { type MetricMetadata, type MetricType, metricKey, saysOtherwise } from "./metric-metadata.ts";

interface SenderType {
  /** As it is stored: unknown where the sender contradicts itself. */
  readonly metadata: MetricMetadata;
  /** The type that it told last, and since when it tells no other. */
  readonly heard: MetricType;
  readonly sinceMs: number;
}

/** What a sender's word makes of its type: `stored` is to be stored. */
export type SenderWord = "known" | "stored";

/** By metric, the senders that contradict others; at most METADATA_SENDERS_MAX of one metric. */
export class SenderTypes {
  readonly #metrics = new Map<string, Map<number, SenderType>>();

  /** Whether senders contradict each other over a metric. */
  isContested(tenant: string, metricName: string): boolean {
    return this.#metrics.has(metricKey(tenant, metricName));
  }

  /** What one sender says of a metric, where that is another type than the others' or two. */
  find(tenant: string, metricName: string, sender: number): MetricMetadata | undefined {
    return this.#metrics.get(metricKey(tenant, metricName))?.get(sender)?.metadata;
  }

  hasCapacity(tenant: string, metricName: string): boolean {
    return (this.#metrics.get(metricKey(tenant, metricName))?.size ?? 0) < METADATA_SENDERS_MAX;
  }

  /** The first word of a sender that contradicts others, or itself. */
  begin(reported: MetricMetadata, isOfItself: boolean, nowMs: number): void {
    const metadata: MetricMetadata = isOfItself ? { ...reported, type: "unknown" } : reported;
    this.#put({ metadata, heard: reported.type, sinceMs: nowMs });
  }

  /** A further word: with a second type it contradicts itself until it has told one alone for METADATA_TYPE_HOLD_MS. */
  observe(reported: MetricMetadata, nowMs: number): SenderWord {
    const known = this.#metrics.get(metricKey(reported.tenant, reported.metricName))?.get(reported.sender ?? 0);
    if (known === undefined || reported.type === "unknown") return "known";
    const { metadata, heard, sinceMs } = known;
    const isSame = heard !== "unknown" && !saysOtherwise(reported.metricName, heard, reported.type);
    const isSettled = isSame && (metadata.type !== "unknown" || nowMs - sinceMs >= METADATA_TYPE_HOLD_MS);
    if (isSettled && metadata.type !== "unknown") return "known";
    const type = isSettled ? reported.type : "unknown";
    this.#put({ metadata: { ...metadata, type }, heard: reported.type, sinceMs: isSame ? sinceMs : nowMs });
    return type === metadata.type ? "known" : "stored";
  }

  /** Takes what is stored; false for what is known. */
  take(stored: MetricMetadata): boolean {
    if (this.find(stored.tenant, stored.metricName, stored.sender ?? 0)?.type === stored.type) return false;
    this.#put({ metadata: stored, heard: stored.type, sinceMs: 0 });
    return true;
  }

  /** Forgets a sender's word; false for one that is not known. */
  forget({ tenant, metricName, sender = 0 }: Pick<MetricMetadata, "tenant" | "metricName" | "sender">): boolean {
    const key = metricKey(tenant, metricName);
    const senders = this.#metrics.get(key);
    const wasKnown = senders?.delete(sender) ?? false;
    if (senders?.size === 0) this.#metrics.delete(key);
    return wasKnown;
  }

  #put(type: SenderType): void {
    const { tenant, metricName, sender = 0 } = type.metadata;
    const key = metricKey(tenant, metricName);
    const senders = this.#metrics.get(key) ?? new Map<number, SenderType>();
    this.#metrics.set(key, senders.set(sender, type));
  }
}
