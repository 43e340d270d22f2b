// What is called and sends nothing is a candidate, under one name, whoever names it; its time is not its callers'.
import { describe, expect, it } from "vitest";
import { analyse } from "../../../../src/domain/rca/analysis.ts";
import type { CallEvidence, IncidentEvidence, OperationEvidence, SeriesEvidence } from "../../../../src/domain/rca/evidence.ts";
import { withPeers } from "../../../../src/domain/rca/peers.ts";
import { meanMoments, NO_TIME } from "../../../../src/domain/trace/time-sums.ts";

const ONSET = Date.UTC(2026, 0, 5, 10);
const WINDOWS = 12;

const nothing: IncidentEvidence = {
  onsetMs: ONSET,
  untilMs: ONSET + 60_000,
  target: null,
  senders: [],
  members: [],
  series: [],
  lines: [],
  operations: [],
  calls: [],
  edges: [],
  changes: [],
  saturated: [],
  silent: [],
};

function callOf(caller: string, callee: string, msBefore: number, msNow: number, errorsNow = 0): CallEvidence {
  const window = (ms: number, errors: number) => ({
    calls: 40,
    errors,
    duration: meanMoments(40 * ms * 1_000, 40),
    gap: meanMoments(0, 0),
  });
  const past = Array.from({ length: WINDOWS }, (_, i) => window(msBefore * (1 + 0.02 * (i % 3)), 0));
  return { caller, callee, isPeer: false, past, now: window(msNow, errorsNow) };
}

function requestsOf(serviceId: string, errorsNow: number): OperationEvidence {
  const window = (errors: number) => ({ spans: 40, errors, self: NO_TIME });
  return { serviceId, operation: "", isEntry: true, past: Array.from({ length: WINDOWS }, () => window(0)), now: window(errorsNow) };
}

function seriesOf(serviceId: string, metricName: string, novelty: number, peer: string | null = null): SeriesEvidence {
  const past = Float32Array.from({ length: WINDOWS }, (_, i) => (i % 4) / 4);
  const departure = { mean: 20, sd: 2, peak: 400, peakAt: 1, onsetAt: 0, novelty, shift: novelty, past };
  return { serviceId, metricName, instance: null, node: null, peer, departure, onsetMs: ONSET, intervalMs: 10_000 };
}

describe("a database that sends nothing", () => {
  const edges = [
    ["front", "shop"],
    ["shop", "Orders-DB"],
    ["cart", "Orders-DB"],
  ] as const;
  const slow: IncidentEvidence = {
    ...nothing,
    series: [seriesOf("shop", "latency_ms", 9), seriesOf("front", "latency_ms", 8), seriesOf("cart", "latency_ms", 9)],
    operations: [requestsOf("shop", 12), requestsOf("front", 12), requestsOf("cart", 0)],
    calls: [callOf("front", "shop", 30, 930), callOf("shop", "Orders-DB", 25, 925, 12), callOf("cart", "Orders-DB", 25, 925)],
    edges,
  };

  it("B8: is the cause where all that call it wait for it, and those that wait are who was hit", () => {
    const { enough, candidates, category, impact } = analyse(slow);
    expect([enough, candidates[0]?.serviceId, category]).toEqual([true, "Orders-DB", "infrastructure"]);
    expect(impact.map(({ serviceId }) => serviceId).sort()).toEqual(["cart", "front", "shop"]);
  });

  it("B8: that fails at once is as well, and errors that it passed on are not its caller's own", () => {
    const failing = { ...slow, calls: [callOf("front", "shop", 30, 30, 30), callOf("shop", "Orders-DB", 25, 2, 30)] };
    const { candidates } = analyse({ ...failing, operations: [requestsOf("shop", 30), requestsOf("front", 30)] });
    expect(candidates[0]?.serviceId).toBe("Orders-DB");
  });

  it("of which one caller alone waits is less of a cause than one of which all do", () => {
    const score = (evidence: IncidentEvidence) =>
      analyse(evidence).candidates.find(({ serviceId }) => serviceId === "Orders-DB")?.score ?? 0;
    expect(score({ ...slow, calls: [slow.calls[1]!, callOf("cart", "Orders-DB", 25, 25)] })).toBeLessThan(score(slow));
  });
});

describe("names of whom services call", () => {
  const known = [seriesOf("Payments", "cpu_percent", 0), seriesOf("com.shop.Ledger", "cpu_percent", 0)];
  const named = (name: string) => withPeers({ ...nothing, series: known, calls: [callOf("web", name, 5, 5)] });
  const calleeOf = (name: string) => named(name).evidence.calls[0]?.callee;
  const peerOf = (name: string) =>
    withPeers({ ...nothing, series: [...known, seriesOf("web", "client_latency_ms", 0, name)] }).evidence.series[2]?.peer;

  it("that stand for a service are that service's, however they are spelled", () => {
    for (const name of ["Payments", "payments", "payments:8080", "payments.prod.svc.cluster.local", "payments.internal:443"]) {
      expect([calleeOf(name), [...named(name).peers], peerOf(name)], name).toEqual(["Payments", [], "Payments"]);
    }
    expect(calleeOf("com.shop.ledger.internal")).toBe("com.shop.Ledger");
  });

  it("that stand for none are peers; an address in a series may be anybody's", () => {
    expect([...named("orders-db").peers, ...named("10.0.0.7").peers]).toEqual(["orders-db", "10.0.0.7"]);
    expect([peerOf("api.bank.example:443"), peerOf("orders-db:5432"), peerOf("10.0.0.7:80"), peerOf("localhost")]).toEqual([
      "api.bank.example",
      "orders-db",
      null,
      null,
    ]);
  });

  it("of a call and of a series are one peer", () => {
    const series = [...known, seriesOf("web", "client_latency_ms", 0, "ORDERS-db:5432")];
    const { peers } = withPeers({ ...nothing, series, calls: [callOf("web", "Orders-DB", 5, 5)] });
    expect([...peers]).toEqual(["Orders-DB"]);
  });
});
