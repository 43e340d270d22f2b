// The answer of a trial of rules.
import { RULE_TRIAL_ALERTS_SHOWN_MAX } from "../../core/config/rule-limits.ts";
import type { TriedAlert, TriedRule } from "../../core/protocol/rule-work.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { PageDecision } from "../../domain/alerting/paging/page-decision.ts";
import type { RuleGroupDocument } from "../../domain/rules/file/group-document.ts";

/** An alert with what would have become of it. */
export interface TriedPage {
  readonly alert: TriedAlert;
  /** null where nothing was decided within the range: it fired before. */
  readonly decision: PageDecision | null;
  readonly team: string | null;
  readonly channels: readonly string[];
  /** It would have been the same as an alert that is open. */
  readonly isOpenAlready: boolean;
}

interface Trial {
  readonly document: RuleGroupDocument;
  readonly rules: readonly TriedRule[];
  readonly pages: readonly TriedPage[];
  readonly range: { readonly sinceMs: number; readonly untilMs: number; readonly stepMs: number; readonly steps: number };
}

/** When each rule would have fired, and where its pages would have gone. */
export function trialView({ document, rules, pages, range }: Trial) {
  return {
    since: formatRfc3339(range.sinceMs),
    until: formatRfc3339(range.untilMs),
    interval_seconds: range.stepMs / 1_000,
    evaluations: range.steps,
    rules: document.rules.map(({ alert, record }, index) => ({
      name: alert ?? record ?? "",
      type: alert === undefined ? "recording" : "alerting",
      fired: pages.filter((page) => page.alert.rule === index).length,
      failed: rules[index]?.failures ?? 0,
      last_error: rules[index]?.lastError ?? null,
    })),
    fired: pages.length,
    pages: pages.filter(isPage).length,
    outcomes: outcomesOf(pages),
    routing: routingOf(pages),
    alerts: pages.slice(0, RULE_TRIAL_ALERTS_SHOWN_MAX).map((page) => alertView(page, document)),
  };
}

function isPage({ decision }: TriedPage): boolean {
  return decision?.outcome === "paged";
}

function outcomeName({ decision, isOpenAlready }: TriedPage): string | null {
  if (isOpenAlready) return "open_already";
  if (decision === null) return null;
  return decision.outcome === "suppressed" ? decision.suppressedBy : decision.outcome;
}

function outcomesOf(pages: readonly TriedPage[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const page of pages) {
    const name = outcomeName(page);
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

function routingOf(pages: readonly TriedPage[]) {
  const counts = new Map<string, { readonly team: string | null; readonly channel: string; pages: number }>();
  for (const { team, channels } of pages) {
    for (const channel of channels) {
      const key = JSON.stringify([team, channel]);
      const row = counts.get(key) ?? { team, channel, pages: 0 };
      counts.set(key, row);
      row.pages++;
    }
  }
  return [...counts.values()];
}

function alertView(page: TriedPage, document: RuleGroupDocument) {
  const { rule, labels, annotations, activeMs, firedMs, endedMs } = page.alert;
  return {
    rule: document.rules[rule]?.alert ?? "",
    labels,
    annotations,
    active_at: formatRfc3339(activeMs),
    fired_at: formatRfc3339(firedMs),
    ended_at: endedMs === null ? null : formatRfc3339(endedMs),
    outcome: outcomeName(page),
    channels: page.channels,
  };
}
