// One seed of the simulation of incidents: what is made up of them, and what must be told of each.
import { isPage } from "../../src/domain/notification/channel-delivery.ts";
import { type IncidentPlan, type PlannedFinding, worldPlan } from "./incident-plan.ts";
import { IncidentWorld, type Json, type PagedMessage } from "./incident-world.ts";

const MINUTE = 60_000;
const WARM_UP_MS = 8 * MINUTE;
/** Nothing has held it for so long: a cycle, a wait for a group, and a start in between. */
const FREE_MS = 3 * MINUTE;
/** What the warm-up holds back after a start. */
const WARMING: ReadonlySet<string> = new Set(["adaptive", "isolation_forest", "saturation"]);
const STATISTICAL: ReadonlySet<string> = new Set(["z_score", "adaptive", "isolation_forest"]);
const SEVERITIES = ["low", "medium", "high"];

type Interval = readonly [fromMs: number, toMs: number];

/** What became of the incidents of a seed. */
export interface IncidentReport {
  readonly incidents: number;
  readonly told: number;
  /** Faults in words, those of an incident under its name; no incident has none that are not listed. */
  readonly faults: ReadonlyMap<number, readonly string[]>;
}

/** Runs a seed. */
export async function runIncidentSeed(seed: number): Promise<IncidentReport> {
  const plan = worldPlan(seed);
  const world = await IncidentWorld.play(plan);
  const [alerts, anomalies] = [await world.alerts(), await world.anomalies()];
  const faults = new Map<number, readonly string[]>();
  let told = 0;
  for (const incident of plan.incidents) {
    const check = new IncidentCheck(incident, world, alerts, anomalies);
    const found = check.faults();
    if (found.length > 0) faults.set(incident.index, [`${incident.shape}:`, ...found]);
    if (check.pages > 0) told++;
  }
  return { incidents: plan.incidents.length, told, faults };
}

class IncidentCheck {
  readonly #incident: IncidentPlan;
  readonly #world: IncidentWorld;
  readonly #alerts: readonly Json[];
  readonly #anomalies: readonly Json[];
  readonly #services: ReadonlySet<string>;
  readonly #findings: readonly PlannedFinding[];
  readonly #found: string[] = [];
  pages = 0;

  constructor(incident: IncidentPlan, world: IncidentWorld, alerts: readonly Json[], anomalies: readonly Json[]) {
    this.#incident = incident;
    this.#world = world;
    this.#findings = [...incident.findings, ...(incident.inhibitor === undefined ? [] : [incident.inhibitor])];
    this.#services = new Set(this.#findings.map(({ serviceId }) => serviceId));
    this.#anomalies = anomalies.filter(({ service_id }) => this.#services.has(service_id));
    this.#alerts = alerts.filter(({ service_id }) => this.#services.has(service_id));
  }

  /** What is wrong with what was told, in words. */
  faults(): readonly string[] {
    for (const alert of this.#alerts) this.#checkAlert(alert);
    for (const finding of this.#findings) this.#checkFinding(finding);
    this.#checkHeld();
    return this.#found;
  }

  /** A page and an end for each time that it opened, in turns, by its own name; what closed into another before it was told says nothing. */
  #checkAlert(alert: Json): void {
    const told = this.#messagesOf(alert.alert_id);
    const words = told.map(({ message, atMs }) => `${message.kind}@${Math.round(atMs / 1_000)}`).join(" ");
    const say = (what: string) => this.#found.push(`alert ${alert.metric_name ?? ""} of ${alert.service_id}: ${what}: ${words}`);
    let isOpen = false;
    for (const { message } of told) {
      if (isPage(message.kind)) {
        if (isOpen) say("a second page");
        isOpen = true;
        this.pages++;
      } else if (message.kind === "resolved") {
        if (!isOpen) say("an end without a page");
        isOpen = false;
      } else if (message.kind === "updated" && !isOpen) say("an update without a page");
      this.#checkName(message, say);
    }
    if (alert.state !== "resolved") say("it fires on");
    if (isOpen) say("its end was not told");
    if (alert.pages > 0 && told.length === 0) say("it says that it was told");
  }

  #checkName({ serviceId, environment, metricName, services }: PagedMessage["message"], say: (what: string) => void): void {
    const metrics = new Set([...this.#findings.map((finding) => finding.metricName), "service.cascade"]);
    if (!this.#services.has(serviceId) || !metrics.has(metricName)) say(`under another name, ${metricName} of ${serviceId}`);
    if (environment !== this.#incident.environment) say(`in ${environment}`);
    if (services.some((service) => !this.#services.has(service))) say(`with services of others, ${services.join(" ")}`);
  }

  /** Somebody was told of what was free to be told, by its end, with its severity. */
  #checkFinding(finding: PlannedFinding): void {
    const anomaly = this.#anomalyOf(finding);
    const name = `${finding.detector} ${finding.metricName} of ${finding.serviceId} ${times([[finding.fromMs, finding.toMs]])}`;
    if (anomaly === undefined) this.#found.push(`${name}: not found`);
    if (anomaly === undefined || anomaly.severity === "low") return;
    const held = this.#heldOf(finding);
    if (freeMs([finding.fromMs, finding.toMs], held) < FREE_MS) return;
    const alert = this.#current(anomaly.alert_id);
    const told = alert === undefined ? [] : this.#messagesOf(alert.alert_id).filter(({ atMs }) => atMs < finding.toMs);
    const last = told.findLast(({ message }) => isPage(message.kind) || message.kind === "resolved");
    if (last === undefined || last.message.kind === "resolved")
      this.#found.push(`${name}: nobody was told, held ${times(held)}, ${anomaly.outcome} ${anomaly.suppressed_by}`);
    const grown = finding.growsTo;
    if (grown === undefined || freeMs([grown.atMs, finding.toMs], held) < FREE_MS || last === undefined) return;
    const severities = told.map(({ message }) => SEVERITIES.indexOf(message.severity));
    if (Math.max(...severities) < SEVERITIES.indexOf(anomaly.severity) || anomaly.severity !== "high")
      this.#found.push(`${name}: told as ${SEVERITIES[Math.max(...severities)]}, and it is ${anomaly.severity}`);
  }

  /** Nobody is told of a service that is silenced, or kept quiet by another alert. */
  #checkHeld(): void {
    const { services, silence, inhibitor } = this.#incident;
    for (const { message, atMs } of this.#world.messages) {
      if (!services.includes(message.serviceId) || !isPage(message.kind)) continue;
      for (const [fromMs, toMs] of [...intervalOf(silence), ...intervalOf(inhibitor)])
        if (atMs > fromMs && atMs < toMs)
          this.#found.push(
            `${message.metricName} of ${message.serviceId} was told at ${atMs / 1_000}, while held ${times([[fromMs, toMs]])}`,
          );
    }
  }

  #heldOf(finding: PlannedFinding): Interval[] {
    const { silence, inhibitor } = this.#incident;
    const held: Interval[] = finding === inhibitor ? [] : [...intervalOf(silence), ...intervalOf(inhibitor)];
    if (WARMING.has(finding.detector)) for (const atMs of this.#world.startsMs) held.push([atMs, atMs + WARM_UP_MS]);
    if (STATISTICAL.has(finding.detector) && !finding.isRare) held.push([finding.fromMs, finding.confirmedMs]);
    return held;
  }

  #messagesOf(alertId: string): PagedMessage[] {
    const seen = new Set<string>();
    return this.#world.messages.filter(({ message }) => {
      const key = `${message.kind} ${message.atMs}`;
      // A repeat after a kill has the same key, and is no second message.
      if (message.alertId !== alertId || seen.has(key)) return false;
      seen.add(key);
      return true;
    });
  }

  #anomalyOf({ serviceId, metricName, detector, fromMs }: PlannedFinding): Json {
    const of = this.#anomalies.filter((anomaly) => anomaly.service_id === serviceId && anomaly.metric_name === metricName);
    const own = of.filter((anomaly) => anomaly.detector === detector || detector !== "saturation");
    return own.find(({ started_at }) => Date.parse(started_at) - this.#world.epochMs === fromMs) ?? own.at(-1);
  }

  #current(alertId: string | null): Json {
    const alert = this.#alerts.find(({ alert_id }) => alert_id === alertId);
    return alert?.merged_into == null ? alert : this.#current(alert.merged_into);
  }
}

function intervalOf(of: { readonly fromMs: number; readonly toMs?: number; readonly untilMs?: number } | undefined): Interval[] {
  return of === undefined ? [] : [[of.fromMs, of.toMs ?? of.untilMs ?? Number.POSITIVE_INFINITY]];
}

/** The longest time within an interval that no other covers. */
function freeMs([fromMs, toMs]: Interval, held: readonly Interval[]): number {
  let [free, atMs] = [0, fromMs];
  for (const [start, end] of [...held].sort((a, b) => a[0] - b[0])) {
    free = Math.max(free, Math.min(start, toMs) - atMs);
    atMs = Math.max(atMs, end);
  }
  return Math.max(free, toMs - atMs);
}

function times(intervals: readonly Interval[]): string {
  return intervals.map(([fromMs, toMs]) => `[${Math.round(fromMs / 1_000)}, ${Math.round(toMs / 1_000)}]`).join(" ");
}
