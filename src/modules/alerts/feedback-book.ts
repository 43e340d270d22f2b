// What people said of anomalies, by service: in memory whole, as every finding asks for it.

import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { DETECTOR_FAMILIES, type DetectorFamily } from "../../domain/alerting/ensemble.ts";
import { type AnomalyOpinion, FEEDBACK_MS, feedbackFactor } from "../../domain/alerting/feedback.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { list, number, object, oneOf, StoredForm, text } from "../state/stored-json.ts";

/** The opinions on one service. */
export interface ServiceOpinions {
  readonly tenant: string;
  readonly serviceId: string;
  readonly opinions: readonly AnomalyOpinion[];
}

const OPINIONS = new StoredForm<ServiceOpinions>("feedback", {
  tenant: text,
  serviceId: text,
  opinions: list(
    object<AnomalyOpinion>({
      anomalyId: text,
      family: oneOf(DETECTOR_FAMILIES),
      opinion: oneOf(["true_positive", "false_positive"]),
      atMs: number,
    }),
  ),
});

/** Stores the opinions on a service, or removes them where there are none. */
export function feedbackOperation({ tenant, serviceId, opinions }: ServiceOpinions): StoreOperation {
  const key = new KeyBuilder().text(tenant).text(serviceId).finish();
  return { table: "feedback", key, value: opinions.length === 0 ? undefined : OPINIONS.encode({ tenant, serviceId, opinions }) };
}

/** Effect of opinions on the threshold of a family; it wears off until `untilMs`. */
export interface FeedbackEffect {
  readonly family: DetectorFamily;
  readonly factor: number;
  readonly falsePositives: number;
  readonly truePositives: number;
  readonly untilMs: number;
}

export class FeedbackBook {
  /** Who holds how many services. */
  readonly shares: ShareLedger;
  readonly #services = new Map<string, ServiceOpinions>();

  constructor(shares = ShareLedger.alone()) {
    this.shares = shares;
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "feedback")) this.put(OPINIONS.decode(value));
  }

  of(tenant: string, serviceId: string): readonly AnomalyOpinion[] {
    return this.#services.get(keyText(tenant, serviceId))?.opinions ?? [];
  }

  put(of: ServiceOpinions): void {
    const key = keyText(of.tenant, of.serviceId);
    if (of.opinions.length > 0) {
      if (!this.#services.has(key)) this.shares.add(of.tenant);
      this.#services.set(key, of);
    } else if (this.#services.delete(key)) this.shares.give(of.tenant);
  }

  /** Services whose opinions have all worn off, at most `most`. */
  wornOff(nowMs: number, most: number): ServiceOpinions[] {
    const found: ServiceOpinions[] = [];
    for (const service of this.#services.values()) {
      if (service.opinions.some(({ atMs }) => nowMs - atMs < FEEDBACK_MS)) continue;
      found.push({ ...service, opinions: [] });
      if (found.length >= most) break;
    }
    return found;
  }

  /** What the opinions on a service do by now to the threshold of each family that they are about. */
  effects(tenant: string, serviceId: string, nowMs: number): FeedbackEffect[] {
    const inForce = this.of(tenant, serviceId).filter(({ atMs }) => nowMs - atMs < FEEDBACK_MS);
    return [...new Set(inForce.map(({ family }) => family))].map((family) => {
      const opinions = inForce.filter((one) => one.family === family);
      const falsePositives = opinions.filter(({ opinion }) => opinion === "false_positive").length;
      return {
        family,
        factor: feedbackFactor(opinions, family, nowMs),
        falsePositives,
        truePositives: opinions.length - falsePositives,
        untilMs: Math.max(...opinions.map(({ atMs }) => atMs)) + FEEDBACK_MS,
      };
    });
  }

  factor(tenant: string, serviceId: string, family: DetectorFamily, nowMs: number): number {
    const opinions = this.#services.size === 0 ? undefined : this.#services.get(keyText(tenant, serviceId))?.opinions;
    return opinions === undefined ? 1 : feedbackFactor(opinions, family, nowMs);
  }
}

function keyText(tenant: string, serviceId: string): string {
  return JSON.stringify([tenant, serviceId]);
}
