// One run from what was found to what pages, on a virtual clock: transitions as they become known, and at each cycle of the Watchdog the rules over services and what
// was held back.
import { feedbackFactor } from "../alerting/feedback.ts";
import type { PageDecision } from "../alerting/paging/page-decision.ts";
import type { PagingSources } from "../alerting/paging/paging-sources.ts";
import { ServiceConfirmations } from "../alerting/paging/service-confirmations.ts";
import { PatternCache } from "../alerting/pattern/pattern-cache.ts";
import { SilenceIndex } from "../alerting/silence-index.ts";
import type { BacktestFacts, BacktestOptions, BacktestVariant } from "./history.ts";
import { IncidentRun } from "./incident-run.ts";
import type { RequestCounts } from "./request-counts.ts";
import type { BacktestRule } from "./rules/rule.ts";
import type { TimedFrame } from "./timed-frames.ts";
import type { WorkSlices } from "./work-slices.ts";

/** Time of one transition on its way to a page, and of a cycle in which nothing happens. */
const FRAME_US = 20;
const CYCLE_US = 0.5;

export interface TimelineOptions extends BacktestOptions {
  readonly facts: BacktestFacts;
  readonly requests: RequestCounts;
  /** Rules of this run alone. */
  readonly rules: readonly BacktestRule[];
  readonly slices: WorkSlices;
  /** The first cycle. */
  readonly firstMs: number;
}

/** The decisions of one variant from `sinceMs` on, in their order. Frames may be in any order. */
export async function decide(frames: TimedFrame[], variant: BacktestVariant, options: TimelineOptions): Promise<PageDecision[]> {
  const { rules, slices, sinceMs, untilMs, intervalMs, firstMs } = options;
  // Sorting keeps the order of one series' transitions at one time.
  frames.sort((a, b) => a.atMs - b.atMs || a.stage - b.stage || a.index - b.index);
  const decisions: PageDecision[] = [];
  const clock = { nowMs: firstMs };
  const sources = sourcesOf(variant, options, clock);
  const decided = (decision: PageDecision) => {
    if (decision.atMs >= sinceMs) decisions.push(decision);
  };
  const run = new IncidentRun(sources, decided, variant.inhibitionRules);
  const openAnomalies = () => run.openAnomalies();
  const costUs = rules.reduce((sum, rule) => sum + rule.costUs, CYCLE_US);
  let next = 0;
  for (let [nowMs, number] = [firstMs, 0]; nowMs < untilMs + intervalMs; nowMs += intervalMs, number++) {
    for (; next < frames.length && (frames[next] as TimedFrame).atMs <= nowMs; next++) {
      const { frame, atMs } = frames[next] as TimedFrame;
      clock.nowMs = atMs;
      if ("transition" in frame) run.take(frame, atMs);
      else sources.confirmations.take(frame, atMs);
      if (slices.spend(FRAME_US)) await slices.endSlice();
    }
    clock.nowMs = nowMs;
    for (const rule of rules) {
      const changes = await rule.cycle({ nowMs, number, openAnomalies });
      for (const frame of changes) run.take(frame, nowMs);
    }
    run.cycle(nowMs);
    if (slices.spend(costUs)) await slices.endSlice();
  }
  return decisions;
}

/** A server that has been up all along: what a restart holds back is no matter of settings. */
function sourcesOf(
  { settingsOf, silences, inhibitions }: BacktestVariant,
  { facts, requests, confirmation }: TimelineOptions,
  clock: { readonly nowMs: number },
): PagingSources {
  const index = new SilenceIndex(new PatternCache());
  for (const silence of silences) index.put(silence);
  return {
    // A backtest is of one tenant, and so are its silences.
    silences: { silenced: (_tenant, labels, nowMs) => index.find(labels, nowMs) },
    inhibitions,
    confirmations: new ServiceConfirmations(),
    ...(confirmation !== undefined && { confirmation }),
    startedAtMs: Number.NEGATIVE_INFINITY,
    warmUpMinutes: 0,
    // What is told is the same in one message or in many.
    groupWaitMs: 0,
    repeatMs: 0,
    settingsOf,
    firstSeenMs: facts.firstSeenMs,
    feedbackFactor: (tenant, serviceId, family, nowMs) => {
      const said = facts.opinions(tenant, serviceId).filter(({ atMs }) => atMs <= nowMs);
      return said.length === 0 ? 1 : feedbackFactor(said, family, nowMs);
    },
    requestsInCycle: (tenant, environment, serviceId) => requests.of(tenant, environment, serviceId, clock.nowMs),
  };
}
