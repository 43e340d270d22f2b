// The Watchdog's stage over bounded series: tells the engines what they have to know, has them make their pass, makes episodes of what they find, and has
// the stored past of series that wait for it read.
import { CORROBORATIONS_MAX } from "../../core/config/limits.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import { type EpisodeFrame, isClosing } from "../../core/protocol/coordinator-frame.ts";
import type { Corroboration, SaturationFound, SaturationReport, WantedHistory } from "../../core/protocol/saturation.ts";
import { type PageDecision, suppressedDecision } from "../../domain/alerting/paging/page-decision.ts";
import { DETECTOR_SATURATION, NOT_A_HABIT, type SaturationFinding } from "../../domain/saturation/saturation-finding.ts";
import { SATURATION_EVERY_CYCLES } from "../../domain/saturation/saturation-fire.ts";
import { serviceKey } from "../../domain/series/stream-identity.ts";
import { ledgerRowId } from "../alerts/ledger-book.ts";
import type { StateWith } from "../state/stored-state.ts";
import type { Cycle, StageOutcome, WatchdogStage } from "../state/watchdog-stage.ts";
import { engineStage } from "../watchdog/engine-stage.ts";
import type { StagesContext } from "../watchdog/stages-context.ts";
import type { FireBook } from "./fire-book.ts";
import type { SaturationBooks } from "./saturation-context.ts";
import { StoredPasts } from "./stored-past.ts";

/** Findings that the engines have told in the pass under way. */
interface StageFindings {
  readonly reports: SaturationReport[];
  readonly habitual: SaturationReport[];
  readonly waiting: Set<string>;
  readonly over: Map<string, number>;
  readonly ended: Set<string>;
  readonly wanted: Map<number, WantedHistory[]>;
}

function nothingFound(): StageFindings {
  return { reports: [], habitual: [], waiting: new Set(), over: new Map(), ended: new Set(), wanted: new Map() };
}

interface SaturationStageContext extends StagesContext {
  readonly state: StagesContext["state"] & StateWith<unknown, SaturationBooks>;
}

export class SaturationStage implements WatchdogStage {
  readonly name = "saturation";
  readonly every = SATURATION_EVERY_CYCLES;
  readonly #context: SaturationStageContext;
  readonly #fires: FireBook;
  readonly #stage: WatchdogStage;
  readonly #pasts: StoredPasts;
  #found: StageFindings = nothingFound();
  #limitsReported = -1;
  /** Series whose breach stands in the ledger as a habit, while it goes on. */
  #habitual: ReadonlySet<string> = new Set();
  /** Frames that the store did not take. */
  #undeclared: readonly EpisodeFrame[] = [];

  constructor(context: SaturationStageContext) {
    this.#context = context;
    this.#fires = context.state.configured.fires;
    this.#pasts = new StoredPasts(context);
    this.#stage = engineStage("saturation", SATURATION_EVERY_CYCLES, {
      ...context,
      take: (engine, found) => this.#take(engine, found as SaturationFound),
    });
  }

  async run(cycle: Cycle): Promise<StageOutcome> {
    const { counters, monotonicMs } = this.#context;
    this.#found = nothingFound();
    this.#report();
    const outcome = await this.#stage.run(cycle);
    const startMs = monotonicMs();
    await this.#settle(cycle.nowMs);
    this.#recordHabits(cycle.nowMs);
    counters.set("saturationFiresOpen", this.#fires.openCount);
    this.#pasts.ask(this.#found.wanted);
    return { ...outcome, workMs: outcome.workMs + monotonicMs() - startMs };
  }

  #report(): void {
    const { engines, state } = this.#context;
    const { limits } = state.configured.saturation;
    const isFirst = this.#limitsReported < 0;
    const hasChanged = this.#limitsReported !== limits.version;
    const open = [...this.#fires.open()];
    const restored = open.map(({ key, finding }) => ({ key, tier: finding.tier, rule: finding.rule }));
    const corroborations = this.#corroborations();
    for (let engine = 0; engine < engines.count; engine++) {
      engines.notify(engine, {
        type: "saturation-update",
        limits: hasChanged ? [...limits.all()] : null,
        restored: isFirst ? restored : null,
        open: open.filter(({ tenant, serviceId }) => engines.ownerOf(tenant, serviceId) === engine).map(({ key }) => key),
        corroborations: corroborations
          .filter(({ tenant, serviceId }) => engines.ownerOf(tenant, serviceId) === engine)
          .map(({ reported }) => reported),
      });
    }
    this.#limitsReported = limits.version;
  }

  #corroborations(): Array<{ readonly tenant: string; readonly serviceId: string; readonly reported: Corroboration }> {
    const { state } = this.#context;
    const places = new ShareLedger({ most: CORROBORATIONS_MAX, tenants: () => state.configured.tenants.size });
    const found = [];
    for (const { tenant, serviceId, environment, metricName, detector } of state.anomalies.openAnomalies()) {
      if (detector === DETECTOR_SATURATION) continue;
      const reported: Corroboration = [serviceKey(tenant, serviceId), environment, metricName];
      if (places.take(tenant)) found.push({ tenant, serviceId, reported });
    }
    return found;
  }

  #take(engine: number, { reports, habitual, waiting, over, ended, wanted }: SaturationFound): void {
    this.#found.reports.push(...reports);
    this.#found.habitual.push(...habitual);
    for (const key of waiting) this.#found.waiting.add(key);
    for (const { key, sampleMs } of over) this.#found.over.set(key, sampleMs);
    for (const key of ended) this.#found.ended.add(key);
    this.#found.wanted.set(engine, [...(this.#found.wanted.get(engine) ?? []), ...wanted]);
  }

  /** Endings are declared before they are stored, openings after: whatever is lost in between, an engine that finds a fire open goes on with it. */
  async #settle(nowMs: number): Promise<void> {
    const { store } = this.#context;
    await this.#declare();
    const { operations, frames, apply } = this.#fires.settle(this.#found, nowMs);
    await this.#context.declare(frames.filter(({ transition }) => isClosing(transition)));
    if (operations.length > 0) await store(operations);
    apply();
    this.#undeclared = frames.filter(({ transition }) => !isClosing(transition));
    await this.#declare();
  }

  /** One row of the ledger for each breach that a habit holds. */
  #recordHabits(nowMs: number): void {
    const { habitual } = this.#found;
    const rows = habitual.filter(({ key }) => !this.#habitual.has(key)).map((one) => habitDecision(one, nowMs));
    this.#habitual = new Set(habitual.map(({ key }) => key));
    if (rows.length > 0)
      this.#context.state.alerts.ledger.add(rows.map((decision) => ({ id: ledgerRowId(decision.anomalyId, 0), decision })));
  }

  async #declare(): Promise<void> {
    await this.#context.declare(this.#undeclared);
    this.#undeclared = [];
  }
}

/** The decision on a breach that is no news; the anomaly is the one that it would have been. */
function habitDecision({ key, sampleMs, finding, ...name }: SaturationReport, nowMs: number): PageDecision {
  const { verdict, tier, text } = finding as SaturationFinding;
  const { tenant, environment, serviceId, metricName } = name;
  return suppressedDecision({
    atMs: nowMs,
    tenant,
    environment,
    serviceId,
    metricName,
    detector: DETECTOR_SATURATION,
    anomalyId: hash128(JSON.stringify([NOT_A_HABIT, key, sampleMs])),
    tier,
    z: verdict.z,
    suppressedBy: NOT_A_HABIT,
    gates: verdict.gates,
    explanation: `${text}; breaches before it came so, at this time, as long and as deep: no news`,
  });
}
