// From episodes to pages on a virtual clock: anomalies as the coordinator keeps them, and the pipeline to a page over a memory of its own. Frames come in the
// order of their times; equal input gives equal decisions.

import type { EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import type { InhibitionRules } from "../alerting/inhibition/inhibition-rule.ts";
import {
  anomalyRisesAtMs,
  type DecidedBefore,
  findingOf,
  isFarWorseThanNotified,
  mayChangeDecision,
} from "../alerting/paging/anomaly-finding.ts";
import { askedAgain, type OpenFinding } from "../alerting/paging/asked-again.ts";
import type { Finding } from "../alerting/paging/finding.ts";
import type { PageDecision } from "../alerting/paging/page-decision.ts";
import { decideAgain, decideEnd, decideFire, type EnsembleOutcome, type FireOutcome } from "../alerting/paging/page-pipeline.ts";
import { PagingMemory } from "../alerting/paging/paging-memory.ts";
import type { PagingSources } from "../alerting/paging/paging-sources.ts";
import { type Anomaly, anomalyIdOf, applyEpisode, type Episode, openKeyOf } from "../anomaly/anomaly.ts";

/** Outcome of an anomaly when it was last decided on. */
interface LastDecision extends DecidedBefore, OpenFinding {
  readonly reached: boolean;
}

export class IncidentRun {
  readonly #sources: PagingSources;
  readonly #decided: (decision: PageDecision) => void;
  readonly #memory: PagingMemory;
  /** Anomalies that may still change, by id; episodes that are open. */
  readonly #anomalies = new Map<string, Anomaly>();
  readonly #open = new Map<string, string>();
  readonly #episodes = new Map<string, Episode>();
  readonly #decisions = new Map<string, LastDecision>();

  /** `decided` is given each decision, in order; `rules` are people's inhibitions. */
  constructor(sources: PagingSources, decided: (decision: PageDecision) => void, rules?: InhibitionRules) {
    this.#sources = sources;
    this.#decided = decided;
    this.#memory = new PagingMemory(undefined, rules);
  }

  /** Takes a transition that is known at `nowMs`. */
  take(frame: EpisodeFrame, nowMs: number): void {
    const episode = this.#episodes.get(frame.episodeId);
    const id = episode?.anomalyId ?? this.#open.get(openKeyOf(frame)) ?? anomalyIdOf(frame);
    const before = this.#anomalies.get(id);
    const effect = applyEpisode({ episode, anomaly: before }, frame, nowMs);
    if (effect.episode?.open === true) this.#episodes.set(frame.episodeId, effect.episode);
    else if (effect.episode !== undefined) this.#episodes.delete(frame.episodeId);
    const { anomaly } = effect;
    if (anomaly === undefined) return;
    this.#anomalies.set(anomaly.id, anomaly);
    if (effect.kind === "left") return;
    if (effect.kind === "resolved") this.#resolve(anomaly, nowMs);
    else this.#decide(anomaly, before, nowMs);
  }

  /** Once a cycle: asks again what has held alerts and findings back. */
  cycle(nowMs: number): void {
    for (const tenant of this.#memory.tenantsFiring) {
      for (const alert of [...this.#memory.firing(tenant)]) {
        if (alert.heldBy === null) continue;
        const decision = decideAgain(alert, this.#sources, this.#memory, nowMs);
        if (decision !== undefined) this.#decided(decision);
      }
    }
    for (const anomaly of [...this.openAnomalies()]) {
      const last = this.#decisions.get(anomaly.id);
      const reason = last === undefined ? undefined : askedAgain(last, this.#sources, this.#memory, nowMs);
      if (last === undefined || reason === undefined) continue;
      const before = reason === "worse" ? last : { ...last, alertId: null };
      const { raised, ...own } = this.#fire(findingOf(anomaly, "raised", before, nowMs));
      for (const outcome of own.decision.alertId === null && reason !== "worse" ? raised : [own, ...raised]) this.#keep(outcome);
    }
  }

  *openAnomalies(): Generator<Anomaly> {
    for (const id of this.#open.values()) {
      const anomaly = this.#anomalies.get(id);
      if (anomaly !== undefined) yield anomaly;
    }
  }

  #resolve(anomaly: Anomaly, nowMs: number): void {
    this.#open.delete(openKeyOf(anomaly));
    this.#anomalies.delete(anomaly.id);
    const alertId = this.#decisions.get(anomaly.id)?.alertId;
    this.#decisions.delete(anomaly.id);
    if (alertId == null) return;
    const { id: anomalyId, serviceId, metricName, detector, z, endedAtMs } = anomaly;
    const end = { anomalyId, alertId, serviceId, metricName, detector, z, endedAtMs, by: null, atMs: nowMs };
    const ended = decideEnd(end, this.#memory, this.#openFinding(nowMs));
    if (ended !== undefined) this.#decided(ended);
  }

  #decide(anomaly: Anomaly, before: Anomaly | undefined, nowMs: number): void {
    this.#open.set(openKeyOf(anomaly), anomaly.id);
    const last = this.#decisions.get(anomaly.id) ?? null;
    if (
      before !== undefined &&
      !mayChangeDecision({ before, after: anomaly, reached: last?.reached === true }, nowMs) &&
      !this.#isFarWorse(anomaly, nowMs)
    )
      return;
    const kind: Finding["kind"] = before === undefined ? "opened" : "raised";
    const { raised, ...own } = this.#fire(findingOf(anomaly, kind, last, nowMs));
    for (const outcome of [own, ...raised]) this.#keep(outcome);
  }

  #isFarWorse(anomaly: Anomaly, nowMs: number): boolean {
    const alertId = this.#decisions.get(anomaly.id)?.alertId;
    const alert = alertId == null ? undefined : this.#memory.current(alertId);
    return alert !== undefined && isFarWorseThanNotified(anomaly, alert, nowMs);
  }

  #fire(finding: Finding): EnsembleOutcome {
    return decideFire(finding, this.#sources, this.#memory, this.#openFinding(finding.atMs));
  }

  #openFinding(atMs: number): (id: string) => Finding | undefined {
    return (id) => {
      const other = this.#anomalies.get(id);
      return other === undefined ? undefined : findingOf(other, "raised", this.#decisions.get(id) ?? null, atMs);
    };
  }

  #keep({ decision, ended, merged }: FireOutcome): void {
    for (const each of merged) this.#decided(each);
    const { anomalyId: id, outcome, tier } = decision;
    if (ended !== undefined) this.#decided(ended);
    const reached = outcome === "paged" || outcome === "absorbed";
    const alertId = decision.alertId ?? this.#decisions.get(id)?.alertId ?? null;
    const anomaly = this.#anomalies.get(id);
    const risesAtMs = anomaly === undefined ? null : anomalyRisesAtMs(anomaly, tier);
    this.#decisions.set(id, { alertId, tier, reached, risesAtMs, suppressedBy: alertId === null ? decision.suppressedBy : null });
    this.#decided(decision);
  }
}
