// A backtest takes findings to pages as the server does: both of two detectors within two minutes are raised, and saturation is an anomaly of its own.
import { expect, it } from "vitest";
import { hash128 } from "../../../../src/core/hashing/hash128.ts";
import type { EpisodeFrame } from "../../../../src/core/protocol/coordinator-frame.ts";
import type { PageDecision } from "../../../../src/domain/alerting/paging/page-decision.ts";
import { IncidentRun } from "../../../../src/domain/backtest/incident-run.ts";
import { PagingRig, PAGING_START_MS as START_MS } from "../../../support/paging-rig.ts";

const MINUTE = 60_000;

function decisionsOf(frames: readonly EpisodeFrame[]): string[] {
  const decisions: PageDecision[] = [];
  const run = new IncidentRun(new PagingRig().sources, (decision) => decisions.push(decision));
  for (const frame of frames) run.take(frame, frame.observedAtMs);
  return decisions.map(({ detector, tier, outcome }) => `${detector} ${tier} ${outcome}`);
}

const found = (detector: string, minute: number, change: Partial<EpisodeFrame> = {}): EpisodeFrame => {
  const atMs = START_MS + minute * MINUTE;
  return {
    tenant: "default",
    environment: "prod",
    serviceId: "checkout",
    metricName: `${detector}.metric`,
    attributes: {},
    transition: "open",
    episodeId: hash128(detector),
    detector,
    direction: "high",
    startedAtMs: atMs,
    observedAtMs: atMs,
    z: 2.2,
    verdict: null,
    explanation: "why",
    arrivalMs: 0,
    ...change,
  };
};

it("raises both of two detectors, the stronger first, once", () => {
  expect(decisionsOf([found("stale", 0), found("slo_burn", 1), found("logs", 1)])).toEqual([
    "stale medium paged",
    "slo_burn high paged",
    "stale high absorbed",
    "logs high paged",
  ]);
  expect(decisionsOf([found("stale", 0), found("slo_burn", 3)])).toEqual(["stale medium paged", "slo_burn medium paged"]);
});

it("does not raise one that has ended", () => {
  const stale = found("stale", 0);
  const end = { ...stale, transition: "close", observedAtMs: START_MS + 1 } as const;
  expect(decisionsOf([stale, end, found("slo_burn", 1)])).toEqual(["stale medium paged", "stale medium resolved", "slo_burn high paged"]);
});

it("has saturation beside the departure of the same series, which raises neither and is one alert with it", () => {
  const metricName = "pool.used_percent";
  const both = [found("z_score", 0, { metricName, z: 9 }), found("saturation", 1, { metricName })];
  expect(decisionsOf(both)).toEqual(["z_score high paged", "saturation medium absorbed"]);
});
