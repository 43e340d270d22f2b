// Anomalies that were ended by hand, or for want of values, while their streams say that they go on: by the key under which they would be open. They are as many as
// there are open ones at most, and stand in the index of anomalies like those.
import { type Anomaly, isQuiet, openKeyOf } from "../../domain/anomaly/anomaly.ts";

/** As rules ask about them. */
export interface QuietAnomaly
  extends Pick<Anomaly, "tenant" | "id" | "detectedAtMs" | "serviceId" | "environment" | "metricName" | "detector"> {
  readonly resolvedAtMs: number;
  readonly resolvedBy: string;
}

export class QuietAnomalies {
  readonly #byKey = new Map<string, QuietAnomaly>();
  readonly #keys = new Map<string, string>();

  /** Takes an anomaly as it is stored. */
  put(anomaly: Anomaly): void {
    const { id, resolvedAtMs, resolvedBy } = anomaly;
    this.remove(id);
    if (!isQuiet(anomaly) || resolvedAtMs === null) return;
    const key = openKeyOf(anomaly);
    const { tenant, detectedAtMs, serviceId, environment, metricName, detector } = anomaly;
    const quiet = { tenant, id, detectedAtMs, serviceId, environment, metricName, detector, resolvedAtMs, resolvedBy: resolvedBy ?? "" };
    this.#byKey.set(key, quiet);
    this.#keys.set(id, key);
  }

  remove(id: string): void {
    const key = this.#keys.get(id);
    if (key === undefined) return;
    this.#keys.delete(id);
    if (this.#byKey.get(key)?.id === id) this.#byKey.delete(key);
  }

  find(openKey: string): QuietAnomaly | undefined {
    return this.#byKey.get(openKey);
  }

  /** In no order. */
  all(): Iterable<QuietAnomaly> {
    return this.#byKey.values();
  }
}
