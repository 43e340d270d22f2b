// One evaluation of an alerting rule: what its query answered and the alerts before become the alerts now and the series that tell of them (rules/alerting.go
// of Prometheus). Nothing is changed in place.
import { RESOLVED_ALERT_RETENTION_MS } from "../../../core/config/rule-limits.ts";
import { Labels, METRIC_NAME } from "../../promql/labels/labels.ts";
import type { VectorSample } from "../../promql/query-engine.ts";
import type { AlertingRule } from "../file/rule-group.ts";
import { AlertTemplate } from "../template/alert-template.ts";
import type { TemplateWorld } from "../template/template-function.ts";

/** Where an alert stands; inactive is what has resolved, for a while. */
export type AlertState = "pending" | "firing" | "inactive";

/** An alert of a rule; moments are milliseconds since 1970. */
export interface RuleAlert {
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly state: AlertState;
  readonly value: number;
  readonly activeAtMs: number;
  readonly firedAtMs: number | undefined;
  readonly resolvedAtMs: number | undefined;
  readonly keepFiringSinceMs: number | undefined;
}

/** Alerts by the key of their labels. */
export type RuleAlerts = ReadonlyMap<string, RuleAlert>;

/** A sample of a series that a rule makes; `isStale` ends the series. */
export interface RuleSample {
  readonly labels: Labels;
  readonly timeMs: number;
  readonly value: number;
  readonly isStale: boolean;
}

/** A rule whose evaluation failed; `alerts` are those from then on, where they have changed. */
export class RuleError extends Error {
  override readonly name = "RuleError";
  readonly alerts: RuleAlerts | undefined;

  constructor(message: string, alerts?: RuleAlerts) {
    super(message);
    this.alerts = alerts;
  }
}

/** What an evaluation depends on besides its query's answer. */
export interface AlertingContext {
  readonly timeMs: number;
  readonly queryOffsetMs: number;
  /** Alerts that the rule may have; 0 for any number. */
  readonly limit: number;
  readonly externalLabels: Labels;
  readonly world: TemplateWorld;
  /** Whether `for` has been restored: before that no series are made. */
  readonly isRestored: boolean;
}

/** What came of an evaluation. */
export interface AlertingOutcome {
  readonly alerts: RuleAlerts;
  readonly samples: readonly RuleSample[];
}

const ALERT_NAME = "alertname";
const ALERT_STATE = "alertstate";

/** A rule with its templates read. */
export class CompiledAlertingRule {
  readonly rule: AlertingRule;
  readonly #labels: ReadonlyArray<readonly [string, AlertTemplate]>;
  readonly #annotations: ReadonlyArray<readonly [string, AlertTemplate]>;

  constructor(rule: AlertingRule) {
    this.rule = rule;
    const read = (texts: Labels) => [...texts.entries()].map(([name, text]) => [name, new AlertTemplate(rule.name, text)] as const);
    this.#labels = read(rule.labels);
    this.#annotations = read(rule.annotations);
  }

  /** The alerts and series of a moment. Throws RuleError. */
  evaluate(samples: readonly VectorSample[], before: RuleAlerts, context: AlertingContext): AlertingOutcome {
    const found = this.#found(samples, context);
    const alerts = new Map<string, RuleAlert>();
    for (const [key, alert] of new Map([...before, ...found])) {
      const next = this.#next(found.get(key), before.get(key), alert, context.timeMs);
      if (next !== undefined) alerts.set(key, next);
    }
    const active = [...alerts.values()].filter(({ state }) => state !== "inactive");
    if (context.limit > 0 && active.length > context.limit) {
      throw new RuleError(`exceeded limit of ${context.limit} with ${active.length} alerts`, new Map());
    }
    return { alerts, samples: context.isRestored ? active.flatMap((alert) => alertSamples(alert, this.rule.name, context)) : [] };
  }

  /** A new pending alert for each sample, by key. */
  #found(samples: readonly VectorSample[], { timeMs, externalLabels, world }: AlertingContext): Map<string, RuleAlert> {
    const found = new Map<string, RuleAlert>();
    for (const { labels: metric, value } of samples) {
      const expand = (template: AlertTemplate) => template.expand({ labels: metric, externalLabels, value }, world);
      const own = this.#labels.map(([name, template]) => [name, expand(template)] as const);
      const labels = Labels.of([...metric.withoutMetricName().entries(), ...own, [ALERT_NAME, this.rule.name]]);
      if (found.has(labels.key)) throw new RuleError("vector contains metrics with the same labelset after applying alert labels");
      const annotations = Labels.of(this.#annotations.map(([name, template]) => [name, expand(template)] as const));
      const never = { firedAtMs: undefined, resolvedAtMs: undefined, keepFiringSinceMs: undefined };
      found.set(labels.key, { labels, annotations, state: "pending", value, activeAtMs: timeMs, ...never });
    }
    return found;
  }

  /** An alert from here on; undefined where nothing is left of it. */
  #next(found: RuleAlert | undefined, before: RuleAlert | undefined, either: RuleAlert, timeMs: number): RuleAlert | undefined {
    if (found === undefined) return this.#unseen(either, timeMs);
    const goesOn = before !== undefined && before.state !== "inactive";
    const alert = goesOn ? { ...before, value: found.value, annotations: found.annotations, keepFiringSinceMs: undefined } : found;
    const isDue = alert.state === "pending" && timeMs - alert.activeAtMs >= this.rule.holdMs;
    return isDue ? { ...alert, state: "firing", firedAtMs: timeMs } : alert;
  }

  /** An alert that the query no longer answers: pending is forgotten, firing goes on for a while or resolves. */
  #unseen(alert: RuleAlert, timeMs: number): RuleAlert | undefined {
    if (alert.state === "pending") return undefined;
    if (alert.state === "inactive") {
      return timeMs - (alert.resolvedAtMs ?? timeMs) > RESOLVED_ALERT_RETENTION_MS ? undefined : alert;
    }
    const keepFiringSinceMs = alert.keepFiringSinceMs ?? timeMs;
    if (timeMs - keepFiringSinceMs < this.rule.keepFiringMs) return { ...alert, keepFiringSinceMs };
    return { ...alert, state: "inactive", resolvedAtMs: timeMs };
  }
}

/** The series ALERTS and ALERTS_FOR_STATE of an alert. */
function alertSamples({ labels, state, activeAtMs }: RuleAlert, name: string, context: AlertingContext): RuleSample[] {
  const timeMs = context.timeMs - context.queryOffsetMs;
  const named = [...labels.entries(), [ALERT_NAME, name] as const];
  return [
    { labels: Labels.of([...named, [METRIC_NAME, "ALERTS"], [ALERT_STATE, state]]), timeMs, value: 1, isStale: false },
    { labels: Labels.of([...named, [METRIC_NAME, "ALERTS_FOR_STATE"]]), timeMs, value: Math.floor(activeAtMs / 1_000), isStale: false },
  ];
}
