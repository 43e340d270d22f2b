// What people said of anomalies, by service: in memory whole, as every finding asks for it.
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { DETECTOR_FAMILIES, type DetectorFamily } from "../../domain/alerting/ensemble.ts";
import { type AnomalyOpinion, FEEDBACK_MS, feedbackFactor } from "../../domain/alerting/feedback.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { list, number, object, oneOf, StoredForm, text } from "../state/stored-json.ts";
import { type StoredKind, StoredTable } from "../state/stored-table.ts";

export interface ServiceOpinions {
  readonly tenant: string;
  readonly serviceId: string;
  readonly opinions: readonly AnomalyOpinion[];
}

/** Opinions on services; those on one go where there are none left. */
const OPINIONS: StoredKind<ServiceOpinions> = {
  table: "feedback",
  form: new StoredForm<ServiceOpinions>("feedback", {
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
  }),
  key: ({ tenant, serviceId }) => new KeyBuilder().text(tenant).text(serviceId).finish(),
  idOf: ({ serviceId }) => serviceId,
};

/** Effect of opinions on the threshold of a family; it wears off until `untilMs`. */
export interface FeedbackEffect {
  readonly family: DetectorFamily;
  readonly factor: number;
  readonly falsePositives: number;
  readonly truePositives: number;
  readonly untilMs: number;
}

export class FeedbackBook extends StoredTable<ServiceOpinions> {
  constructor(shares?: ShareLedger) {
    super(OPINIONS, shares);
  }

  on(tenant: string, serviceId: string): readonly AnomalyOpinion[] {
    return this.find(tenant, serviceId)?.opinions ?? [];
  }

  /** Services whose opinions have all worn off, at most `most`. */
  wornOff(nowMs: number, most: number): ServiceOpinions[] {
    const found: ServiceOpinions[] = [];
    for (const service of this.all()) {
      if (service.opinions.some(({ atMs }) => nowMs - atMs < FEEDBACK_MS)) continue;
      found.push(service);
      if (found.length >= most) break;
    }
    return found;
  }

  /** What the opinions on a service do by now to the threshold of each family that they are about. */
  effects(tenant: string, serviceId: string, nowMs: number): FeedbackEffect[] {
    const inForce = this.on(tenant, serviceId).filter(({ atMs }) => nowMs - atMs < FEEDBACK_MS);
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
    const opinions = this.size === 0 ? undefined : this.find(tenant, serviceId)?.opinions;
    return opinions === undefined ? 1 : feedbackFactor(opinions, family, nowMs);
  }
}
