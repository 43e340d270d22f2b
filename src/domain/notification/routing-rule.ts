// Routing rules (contract 2.8 and 4.11): the first that matches, by priority and then by age, says through which channels people are told.
// Globs over service ids: `*` is any characters, "/" and "." too, `?` one, all else stands for itself, and case counts.
import { ownMember } from "../../core/collections/own-member.ts";
import type { DetectorFamily } from "../alerting/ensemble.ts";
import { type Labels, labelOf } from "../alerting/label-matcher.ts";
import type { Tier } from "../detection/anomaly-score.ts";

/** Absent matchers (null, no labels) hold for everything. */
export interface RoutingRule {
  readonly id: string;
  readonly name: string;
  /** 0 to 9,999; ROUTING_CATCH_ALL_PRIORITY is the catch-all's alone. */
  readonly priority: number;
  readonly labelMatchers: Labels;
  readonly servicePattern: string | null;
  readonly severity: Tier | null;
  /** A family of detectors, or `alertmanager` for alerts that came from one. */
  readonly source: string | null;
  readonly environment: string | null;
  readonly channels: readonly string[];
  readonly createdAtMs: number;
}

/** Subject of the rules: an alert as it is now. */
export interface RoutingSubject {
  readonly serviceId: string;
  readonly severity: Tier;
  readonly source: string;
  readonly environment: string;
  /** Labels of the alert, with the labels of its service put ahead. */
  readonly labels: Labels;
}

/** The matcher of a rule that did not hold. */
export type FailedMatcher = "label_matchers" | "service_pattern" | "severity" | "source" | "environment";

export interface Route {
  readonly rule: RoutingRule | null;
  /** Rules that were asked before it, in their order, with the first matcher that failed. */
  readonly skipped: ReadonlyArray<{ readonly ruleId: string; readonly failedMatcher: FailedMatcher }>;
}

/** Source name of an alert of a family. */
export function sourceOf(family: DetectorFamily): string {
  return family === "external" ? "alertmanager" : family;
}

/** The order in which rules are asked: lowest priority first, then the oldest, then by id. */
export function inOrder(rules: Iterable<RoutingRule>): RoutingRule[] {
  return [...rules].sort((a, b) => a.priority - b.priority || a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
}

/** Asks rules that are in their order. */
export function routeOf(rules: readonly RoutingRule[], subject: RoutingSubject): Route {
  const skipped: Array<Route["skipped"][number]> = [];
  for (const rule of rules) {
    const failedMatcher = failedMatcherOf(rule, subject);
    if (failedMatcher === null) return { rule, skipped };
    skipped.push({ ruleId: rule.id, failedMatcher });
  }
  return { rule: null, skipped };
}

/** The first matcher that does not hold; null where the rule matches. */
function failedMatcherOf(rule: RoutingRule, subject: RoutingSubject): FailedMatcher | null {
  if (rule.severity !== null && rule.severity !== subject.severity) return "severity";
  if (rule.source !== null && rule.source !== subject.source) return "source";
  if (rule.environment !== null && rule.environment !== subject.environment) return "environment";
  if (rule.servicePattern !== null && !globMatches(rule.servicePattern, subject.serviceId)) return "service_pattern";
  for (const name of Object.keys(rule.labelMatchers)) {
    if (labelOf(subject.labels, name) !== ownMember(rule.labelMatchers, name)) return "label_matchers";
  }
  return null;
}

/** Whether the whole text matches. At most the product of both lengths: 1 KiB by 1 KiB, 1 ms. */
export function globMatches(glob: string, text: string): boolean {
  let at = 0;
  let index = 0;
  let star = -1; // place of the last `*`
  let retryAt = 0; // where the text goes on when that star takes one character more
  while (at < text.length) {
    const sign = glob[index];
    if (sign === "*") {
      star = index++;
      retryAt = at;
    } else if (sign === "?") {
      index += 1;
      at = behind(text, at);
    } else if (index < glob.length && sign === text[at]) {
      index += 1;
      at += 1;
    } else if (star >= 0) {
      index = star + 1;
      retryAt = behind(text, retryAt);
      at = retryAt;
    } else {
      return false;
    }
  }
  while (glob[index] === "*") index += 1;
  return index === glob.length;
}

/** The place behind a character, which two surrogates are one of. */
function behind(text: string, at: number): number {
  return at + ((text.codePointAt(at) as number) > 0xffff ? 2 : 1);
}
