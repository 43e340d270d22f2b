// The trial of a transform when its webhook is saved: its program on the newest stored events that the webhook's pattern takes, sent nowhere.
import { refused } from "../../api/refusal.ts";
import { TRANSFORM_TRIAL_EVENTS_MAX } from "../../core/config/sandbox-limits.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import { pythonRefusal } from "../../domain/webhooks/python/python-refusals.ts";
import type { Transform, TransformOutcome } from "../../domain/webhooks/transform.ts";
import { matchesSubject, searched, type WebhookPattern } from "../../domain/webhooks/webhook.ts";
import { rootCauseView } from "../analysis/root-cause-view.ts";
import { TOO_MANY_CALLS } from "../notification/outbound-calls.ts";
import { eventText, testEventText } from "./event-view.ts";
import { eventIdOf } from "./webhook-row.ts";
import type { WebhooksContext } from "./webhooks-context.ts";

/** Anomalies that are looked at for events that the pattern takes. */
const ANOMALIES_INSPECTED = 500;

/** Outcome for one event. */
export interface TransformTrial {
  readonly event_id: string;
  /** The body that would be sent. */
  readonly output: unknown;
  readonly error: string | null;
  readonly line: number | null;
}

interface Tried {
  readonly tenant: string;
  readonly transform: Transform | null;
  readonly pattern: WebhookPattern;
}

/** The trial, none for a webhook without a transform; or why it cannot be kept. */
export async function tryTransform(context: WebhooksContext, { tenant, transform, pattern }: Tried) {
  if (transform === null) return { ok: true, trial: [] as TransformTrial[] } as const;
  const refusal = transform.type === "python" ? pythonRefusal(transform.code ?? "") : undefined;
  if (refusal !== undefined) return refused("unprocessable", `line ${refusal.line} of the program: ${refusal.text}`, "transform.code");
  const events = trialEvents(context, tenant, pattern);
  const tried = await context.calls.tryTransform(
    tenant,
    transform,
    events.map(({ text }) => text),
  );
  if (tried === "full") return refused("overloaded", TOO_MANY_CALLS);
  if (tried === undefined) return refused("overloaded", "the notifier gave no answer; try again in a moment");
  const { walls } = tried.sandbox;
  if (walls !== null && !walls.languages.includes(transform.type)) {
    const instead = `transforms may be in ${walls.languages.join(" and ")}`;
    return refused("unprocessable", `${transform.type} is off here: ${tried.outcomes.map(errorOf)[0] ?? ""}; ${instead}`, "transform.type");
  }
  const trial = tried.outcomes.map((outcome, index) => trialView(events[index]?.id ?? "", outcome));
  return { ok: true, trial } as const;
}

function trialView(eventId: string, outcome: TransformOutcome): TransformTrial {
  const output: unknown = outcome.kind === "payload" ? JSON.parse(outcome.json) : null;
  return { event_id: eventId, output, error: errorOf(outcome), line: outcome.kind === "failed" ? outcome.line : null };
}

function errorOf(outcome: TransformOutcome): string | null {
  return outcome.kind === "payload" ? null : outcome.error;
}

/** Events of the newest anomalies that the pattern takes, a test event where there is none. */
function trialEvents(context: WebhooksContext, tenant: string, pattern: WebhookPattern) {
  const { state, nowMs } = context;
  const { patterns } = state.configured;
  const finds = (regex: string, value: string) => patterns.matches(searched(regex), value) === true;
  const newest = state.anomalies.index(tenant).page({}, undefined, ANOMALIES_INSPECTED);
  const taken = newest.filter(({ serviceId, metricName, environment, score }) =>
    matchesSubject(pattern, { serviceId, metricName, environment, score }, finds),
  );
  const { rootCauseCategory: category } = pattern;
  const hasCause = (id: string) =>
    category === null || rootCauseView(state, state.analyses.reports.ofAnomaly(tenant, id))?.category === category;
  const anomalies: Anomaly[] = [];
  for (const { id } of taken) {
    const anomaly = anomalies.length < TRANSFORM_TRIAL_EVENTS_MAX && hasCause(id) ? state.anomalies.find(tenant, id) : undefined;
    if (anomaly !== undefined) anomalies.push(anomaly);
  }
  if (anomalies.length > 0) return anomalies.map((anomaly) => declaredEvent(context, anomaly));
  const id = hash128(JSON.stringify(["trial", tenant, nowMs()]));
  return [{ id, text: testEventText(id, tenant, nowMs()) }];
}

function declaredEvent({ state, webhooks: { publicUrl } }: WebhooksContext, anomaly: Anomaly) {
  const { tenant, detectedAtMs: occurredAtMs } = anomaly;
  const eventId = eventIdOf(tenant, anomaly.id, "anomaly.declared", 0);
  const cause = rootCauseView(state, state.analyses.reports.ofAnomaly(tenant, anomaly.id));
  const head = { eventId, eventType: "anomaly.declared", occurredAtMs } as const;
  return { id: eventId, text: eventText(head, { anomaly, alert: state.alerts.ofAnomaly(anomaly), cause, publicUrl }) };
}
