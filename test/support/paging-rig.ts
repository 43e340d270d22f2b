// The pipeline to a page on a virtual clock: findings of one service unless a test says otherwise.
import { askedAgain } from "../../src/domain/alerting/paging/asked-again.ts";
import { askAlert } from "../../src/domain/alerting/paging/asked-alert.ts";
import type { Finding } from "../../src/domain/alerting/paging/finding.ts";
import type { PageDecision } from "../../src/domain/alerting/paging/page-decision.ts";
import { type AnomalyEnd, decideEnd, decideFire } from "../../src/domain/alerting/paging/page-pipeline.ts";
import { PagingMemory } from "../../src/domain/alerting/paging/paging-memory.ts";
import type { ActiveInhibitions, ActiveSilences, PagingSources } from "../../src/domain/alerting/paging/paging-sources.ts";
import { ServiceConfirmations } from "../../src/domain/alerting/paging/service-confirmations.ts";
import { risesAtMs } from "../../src/domain/alerting/severity.ts";
import type { WatchdogSettings } from "../../src/domain/detection/watchdog-settings.ts";

/** Nothing is silenced. */
const NO_SILENCES: ActiveSilences = { silenced: () => undefined };
/** Nothing is inhibited. */
export const NO_INHIBITIONS: ActiveInhibitions = { inhibited: () => undefined };

export const PAGING_START_MS = Date.UTC(2026, 0, 5);
const DEFAULT_SETTINGS: WatchdogSettings = {
  zThreshold: 3,
  rcaCooldownMinutes: 15,
  dedupMaxAgeMinutes: 60,
  direction: "both",
  excluded: false,
  evaluationDelaySeconds: 0,
  minimumTraffic: 0,
};

export interface PagingRigOptions extends Partial<PagingSources> {
  readonly settings?: Partial<WatchdogSettings>;
}

/** Every departure holds, so that the gates beside confirmation are seen at their limits. */
class LastingDepartures extends ServiceConfirmations {
  override isConfirmed(): boolean {
    return true;
  }
}

/** Long after its start, with the settings of the environment. */
export class PagingRig {
  memory = new PagingMemory();
  sources: PagingSources;
  /** Those that are open, as last decided on. */
  readonly #findings = new Map<string, Finding>();
  readonly #heldBy = new Map<string, string | null>();
  #next = 0;

  constructor({ settings = {}, ...sources }: PagingRigOptions = {}) {
    this.sources = {
      silences: NO_SILENCES,
      inhibitions: NO_INHIBITIONS,
      confirmations: new LastingDepartures(),
      startedAtMs: PAGING_START_MS - 86_400_000,
      warmUpMinutes: 8,
      groupWaitMs: 0,
      repeatMs: 0,
      settingsOf: () => ({ ...DEFAULT_SETTINGS, ...settings }),
      firstSeenMs: () => undefined,
      feedbackFactor: () => 1,
      requestsInCycle: () => undefined,
      ...sources,
    };
  }

  finding(change: Partial<Finding> = {}): Finding {
    return {
      kind: "opened",
      tenant: "default",
      environment: "prod",
      serviceId: "checkout",
      metricName: "queue_depth",
      attributes: {},
      anomalyId: `anomaly-${this.#next++}`,
      detector: "z_score",
      operation: false,
      z: 5,
      threshold: 3,
      baselineValues: 120,
      services: [],
      explanation: "why",
      alertId: null,
      tierBefore: null,
      startedAtMs: change.atMs ?? PAGING_START_MS,
      firedAtMs: change.atMs ?? PAGING_START_MS,
      atMs: PAGING_START_MS,
      ...change,
    };
  }

  /** Decides on a finding. */
  fire(change: Partial<Finding> = {}): PageDecision {
    return this.outcome(change).decision;
  }

  outcome(change: Partial<Finding> = {}) {
    const finding = this.finding(change);
    this.#findings.set(finding.anomalyId, finding);
    const { raised, ...own } = decideFire(finding, this.sources, this.memory, this.#openFinding(finding.atMs));
    for (const { decision } of [own, ...raised]) {
      const { anomalyId, alertId, tier } = decision;
      this.#heldBy.set(anomalyId, alertId === null ? decision.suppressedBy : null);
      const known = this.#findings.get(anomalyId) as Finding;
      this.#findings.set(anomalyId, { ...known, alertId: alertId ?? known.alertId, tierBefore: tier });
    }
    return { raised, ...own };
  }

  /** Ends the anomaly that was decided on. */
  end(of: PageDecision, atMs: number, by: string | null = null): PageDecision | undefined {
    this.#findings.delete(of.anomalyId);
    const end: AnomalyEnd = { ...of, alertId: of.alertId ?? "", by, atMs };
    return decideEnd(end, this.memory, this.#openFinding(atMs));
  }

  #openFinding(atMs: number): (id: string) => Finding | undefined {
    return (id) => {
      const open = this.#findings.get(id);
      return open === undefined ? undefined : { ...open, kind: "raised", atMs };
    };
  }

  /** A cycle: asks all that fire again, then open findings that are held or left behind; what has changed. */
  again(nowMs: number): PageDecision[] {
    const alerts = [...this.memory.firing("default")].flatMap(({ state }) => askAlert(state.id, this.sources, this.memory, nowMs));
    const findings = [...this.#findings.values()].flatMap((finding) => {
      const risesAt = finding.tierBefore === null ? null : risesAtMs(finding, finding.tierBefore);
      const open = { suppressedBy: this.#heldBy.get(finding.anomalyId) ?? null, alertId: finding.alertId, risesAtMs: risesAt };
      const reason = askedAgain(open, this.sources, this.memory, nowMs);
      if (reason === undefined) return [];
      const decision = this.fire({ ...finding, kind: "raised", ...(reason === "left" && { alertId: null }), atMs: nowMs });
      return decision.alertId === null ? [] : [decision];
    });
    return [...alerts, ...findings];
  }
}
