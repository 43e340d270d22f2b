// POST /api/v1/rule-groups/trial: a group over the past. Query workers say which alerts would have fired; here these go through the pipeline to a page, with silences,
// inhibitions and settings as they are now, each known at the moment at which its rule fired.

import { done, type Outcome, refused } from "../../api/refusal.ts";
import { groupBy } from "../../core/collections/grouping.ts";
import { BACKTEST_CYCLES_MAX, CYCLE_MS } from "../../core/config/backtest-limits.ts";
import { RULE_TRIAL_STEPS_MAX } from "../../core/config/rule-limits.ts";
import type { EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import type { TriedAlert, TriedGroup } from "../../core/protocol/rule-work.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { INHIBITIONS } from "../../domain/alerting/inhibition/built-in-inhibitions.ts";
import type { PageDecision } from "../../domain/alerting/paging/page-decision.ts";
import { anomalyIdOf } from "../../domain/anomaly/anomaly.ts";
import { alertFingerprint, webhookEpisode } from "../../domain/anomaly/webhook-alert.ts";
import { type BacktestVariant, NO_FACTS } from "../../domain/backtest/history.ts";
import { RequestCounts } from "../../domain/backtest/request-counts.ts";
import { STAGE_SAMPLES, type TimedFrame } from "../../domain/backtest/timed-frames.ts";
import { decide } from "../../domain/backtest/timeline.ts";
import { WorkSlices } from "../../domain/backtest/work-slices.ts";
import { TimeZoneHours } from "../../domain/detection/seasonal/time-zone-hours.ts";
import { sourceOf } from "../../domain/notification/routing-rule.ts";
import { groupOfDocument, type RuleGroupDocument } from "../../domain/rules/file/group-document.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { mapInSlices } from "../state/slices.ts";
import { readOneGroup, workDone } from "./one-group.ts";
import { SENDER } from "./rule-alerts.ts";
import { evaluationsOf } from "./rule-schedule.ts";
import { type TriedPage, trialView } from "./rule-trial-view.ts";
import type { RuleTrialContext } from "./rules-context.ts";

/** The range of a trial, and the moments at which its group is evaluated: `for` counts from before the range on. */
interface TrialRange {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly firstMs: number;
  readonly stepMs: number;
  readonly steps: number;
}

/** Tries a group over the past. */
export async function tryRuleGroup(context: RuleTrialContext, request: QueryRequest<"tryRuleGroup">): Promise<Outcome<unknown>> {
  const { group: text, since, until } = request.body;
  if (since >= until) return refused("bad_request", "since must be before until");
  const read = await readOneGroup(context, request, text);
  if (!read.ok) return read;
  const { tenant } = request.principal;
  const range = rangeOf(read.value, tenant, since, Math.min(until, context.nowMs()));
  const problem = rangeProblem(range, context.options.watchdogIntervalMs ?? CYCLE_MS);
  if (problem !== undefined) return refused("unprocessable", problem);
  const { firstMs, stepMs, steps } = range;
  const work = { document: JSON.stringify(read.value), firstMs, stepMs, steps, externalUrl: context.ruleRuns.externalUrl };
  const tried = await workDone(context.ruleWorkers.tried(tenant, work));
  if (!tried.ok) return tried;
  if (tried.value.problem !== null) return refused("unprocessable", tried.value.problem);
  return done(await answerOf(context, request, read.value, { ...tried.value, range }));
}

/** Why a range is too long to be tried; undefined where it is not. */
function rangeProblem({ firstMs, untilMs, steps }: TrialRange, cycleMs: number): string | undefined {
  if (steps > RULE_TRIAL_STEPS_MAX)
    return `the group would be evaluated ${steps} times, and a trial does it ${RULE_TRIAL_STEPS_MAX} times; give a shorter time, or a longer interval`;
  const cycles = Math.ceil((untilMs - firstMs) / cycleMs);
  if (cycles <= BACKTEST_CYCLES_MAX) return undefined;
  return `the time has ${cycles} cycles of the Watchdog, and a trial takes ${BACKTEST_CYCLES_MAX}; give a shorter time`;
}

function rangeOf(document: RuleGroupDocument, tenant: string, sinceMs: number, untilMs: number): TrialRange {
  const { rules } = groupOfDocument(document);
  const longestMs = rules.reduce((most, rule) => Math.max(most, rule.kind === "alerting" ? rule.holdMs : 0), 0);
  const { intervalMs: stepMs, nextMs } = evaluationsOf({ tenant, file: "", document }, sinceMs - longestMs - 1);
  return { sinceMs, untilMs, firstMs: nextMs, stepMs, steps: Math.max(0, Math.floor((untilMs - nextMs) / stepMs) + 1) };
}

async function answerOf(
  context: RuleTrialContext,
  request: QueryRequest<"tryRuleGroup">,
  document: RuleGroupDocument,
  { alerts, rules, range }: TriedGroup & { readonly range: TrialRange },
) {
  const { tenant } = request.principal;
  const within = alerts.filter(({ endedMs }) => endedMs === null || endedMs > range.sinceMs);
  const pages = await pagesOf(context, tenant, document, within, range);
  return trialView({ document, rules, pages, range });
}

/** What becomes of each alert on its way to a page. */
async function pagesOf(
  context: RuleTrialContext,
  tenant: string,
  document: RuleGroupDocument,
  alerts: readonly TriedAlert[],
  range: TrialRange,
): Promise<TriedPage[]> {
  const opened = alerts.map((alert) => frameOf(tenant, alert, "firing", alert.firedMs));
  const frames: TimedFrame[] = alerts.flatMap((alert, index) => {
    const stage = STAGE_SAMPLES;
    const open = { frame: opened[index] as EpisodeFrame, atMs: alert.firedMs, stage, index };
    if (alert.endedMs === null) return [open];
    return [open, { frame: frameOf(tenant, alert, "resolved", alert.endedMs), atMs: alert.endedMs, stage, index }];
  });
  const decisions = await decide(frames, variantOf(context, tenant), timelineOf(context, range));
  const byAnomaly = groupBy(decisions, ({ anomalyId }) => anomalyId);
  return mapInSlices(
    alerts.map((alert, index) => ({ alert, frame: opened[index] as EpisodeFrame })),
    ({ alert, frame }) => {
      if (isOpenAlready(context, tenant, document.name, alert)) return { alert, ...OPEN_ALREADY };
      return { alert, ...outcomeOf(byAnomaly.get(anomalyIdOf(frame)) ?? [], frame, context.channels), isOpenAlready: false };
    },
    context.pause,
  );
}

const OPEN_ALREADY = { decision: null, team: null, channels: [], isOpenAlready: true } as const;

/** Whether an alert of the same labels, of a Prometheus or of another group, was open when this one fired, and is still: it would have been the same. */
function isOpenAlready({ state }: RuleTrialContext, tenant: string, group: string, { labels, firedMs }: TriedAlert): boolean {
  if (state.configured.ruleAlerts.has(tenant, group, labels)) return false;
  return state.anomalies.openEpisodes.under(alertFingerprint(tenant, labels)).some(({ startedAtMs }) => startedAtMs <= firedMs);
}

function frameOf(tenant: string, { labels, annotations, firedMs }: TriedAlert, status: "firing" | "resolved", atMs: number): EpisodeFrame {
  const sent = {
    status,
    labels,
    annotations,
    startsAt: formatRfc3339(firedMs),
    ...(status === "resolved" && { endsAt: formatRfc3339(atMs) }),
  };
  return webhookEpisode(tenant, SENDER, sent, atMs);
}

function variantOf({ state }: RuleTrialContext, tenant: string): BacktestVariant {
  const { watchdog, silences, inhibitions } = state.configured;
  return {
    settingsOf: (of, serviceId, metricName) => watchdog.settingsOf(of, serviceId, metricName),
    silences: silences.listOf(tenant),
    inhibitions: INHIBITIONS,
    inhibitionRules: inhibitions,
  };
}

/** Nothing else is known of the past: the alerts of the group are alone. */
function timelineOf(context: RuleTrialContext, { firstMs, sinceMs, untilMs }: TrialRange) {
  const { window, samplesMin, confirmation, timeZone, watchdogIntervalMs: intervalMs = CYCLE_MS } = context.options;
  const { offsetMs } = new TimeZoneHours(timeZone ?? "UTC");
  const opinions: typeof NO_FACTS.opinions = (tenant, serviceId) => context.state.alerts.feedback.on(tenant, serviceId);
  return {
    ...{ window, samplesMin, confirmation, intervalMs, offsetMs, sinceMs, untilMs },
    facts: { ...NO_FACTS, opinions },
    requests: new RequestCounts([], intervalMs),
    rules: [],
    slices: new WorkSlices(() => context.yieldToLoop()),
    firstMs: Math.floor(firstMs / intervalMs) * intervalMs,
  };
}

/** The page of an alert, else what was decided on it last; null where nothing was decided from `since` on. */
function outcomeOf(decisions: readonly PageDecision[], frame: EpisodeFrame, { routes }: RuleTrialContext["channels"]) {
  const own = decisions.filter(({ outcome }) => outcome !== "resolved");
  const decision = own.find(({ outcome }) => outcome === "paged") ?? own.at(-1);
  if (decision === undefined) return { decision: null, team: null, channels: [] };
  const { tenant, serviceId, environment, tier: severity, family, metricName } = decision;
  const attributes = Object.entries(frame.attributes).map(([name, value]) => [name, String(value)] as const);
  const labels = { ...Object.fromEntries(attributes), service_id: serviceId, metric_name: metricName, environment, severity, family };
  const asked = { serviceId, severity, environment, source: sourceOf(family), labels };
  const isPage = decision.outcome === "paged";
  return {
    decision,
    team: routes.subject(tenant, asked).labels.team ?? null,
    channels: isPage ? (routes.route(tenant, asked).rule?.channels ?? []) : [],
  };
}
