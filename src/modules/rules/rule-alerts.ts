// Alerts of rules on their way to people: one that fires enters as that of an Alertmanager does, and so does its end. What is open already is not sent again, so that an
// alert that a Prometheus sends too is one alert.
import { WEBHOOK_ALERTS_PER_COMMIT_MAX } from "../../core/config/analysis-limits.ts";
import type { RuleAlertChange } from "../../core/protocol/rule-work.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { alertFingerprint, type WebhookAlert } from "../../domain/anomaly/webhook-alert.ts";
import { type AlertTaking, takeSentAlerts } from "../analysis/alert-webhook-handler.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { ChangeRequest } from "../queries/query-context.ts";
import type { StateWith } from "../state/stored-state.ts";
import { endOf, type FiringRuleAlert, ruleAlertOperation } from "./rule-alert-book.ts";
import type { RuleBooks } from "./rule-book.ts";

export interface RuleAlertsDependencies extends AlertTaking {
  readonly state: StateWith<AnomalyBooks, RuleBooks>;
  yieldToLoop(): Promise<void>;
}

/** Who alerts of rules come from. */
export const SENDER = "rules";

/** Sends alerts of rules on. */
export class RuleAlerts {
  readonly #dependencies: RuleAlertsDependencies;

  constructor(dependencies: RuleAlertsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes what an evaluation of a group has told. Rejects with StoreError where the store takes nothing: the next evaluation sends all again. */
  async take(tenant: string, group: string, changes: readonly RuleAlertChange[]): Promise<void> {
    const { ruleAlerts } = this.#dependencies.state.configured;
    for (const { labels } of changes) ruleAlerts.see(tenant, group, labels);
    const wanted = changes.filter((change) => this.#isWanted(tenant, group, change));
    for (let from = 0; from < wanted.length; from += WEBHOOK_ALERTS_PER_COMMIT_MAX) {
      await this.#send(tenant, group, wanted.slice(from, from + WEBHOOK_ALERTS_PER_COMMIT_MAX));
      await this.#dependencies.yieldToLoop();
    }
  }

  /** Ends alerts that no rule has had since the start. */
  async endUnseen(tenant: string, group: string): Promise<void> {
    const { state, nowMs } = this.#dependencies;
    const ended = state.configured.ruleAlerts.unseen(tenant, group).map((alert) => endOf(alert, nowMs()));
    if (ended.length > 0) await this.take(tenant, group, ended);
  }

  #isWanted(tenant: string, group: string, { status, labels }: RuleAlertChange): boolean {
    if (status !== "firing") return status === "resolved";
    const { anomalies, configured } = this.#dependencies.state;
    if (!configured.ruleAlerts.has(tenant, group, labels)) return true;
    return anomalies.openEpisodes.under(alertFingerprint(tenant, labels)).length === 0;
  }

  async #send(tenant: string, group: string, changes: readonly RuleAlertChange[]): Promise<void> {
    const { ruleAlerts } = this.#dependencies.state.configured;
    const rowOf = ({ labels, annotations, firedMs }: RuleAlertChange): FiringRuleAlert => ({ tenant, group, labels, annotations, firedMs });
    const beside = {
      operations: changes.map((change) => ruleAlertOperation(rowOf(change), change.status === "resolved")),
      apply: () => {
        for (const change of changes) {
          if (change.status === "resolved") ruleAlerts.remove(rowOf(change));
          else ruleAlerts.put(rowOf(change));
        }
      },
    };
    await takeSentAlerts(this.#dependencies, originOf(tenant), { alerts: changes.map(sentAlert), note: null, beside });
  }
}

function originOf(tenant: string): ChangeRequest {
  return { principal: { tenant, subject: SENDER, role: "system" }, requestId: SENDER, address: null };
}

function sentAlert({ status, labels, annotations, firedMs, endedMs }: RuleAlertChange): WebhookAlert {
  return {
    status: status === "resolved" ? "resolved" : "firing",
    labels,
    annotations,
    startsAt: formatRfc3339(firedMs),
    ...(endedMs !== null && { endsAt: formatRfc3339(endedMs) }),
  };
}
