// What is a symptom of others is no cause: waiting, what fills meanwhile, lines of failed calls, load, silence that is to be explained, what begins later.
import { describe, expect, it } from "vitest";
import { analyse } from "../../../../src/domain/rca/analysis.ts";
import { departureOf } from "../../../../src/domain/rca/departure.ts";
import type { IncidentEvidence, LineEvidence, OperationEvidence, SeriesEvidence } from "../../../../src/domain/rca/evidence.ts";
import { lineFindings } from "../../../../src/domain/rca/line-findings.ts";
import { medianShift } from "../../../../src/domain/rca/median-shift.ts";
import { meaningOf } from "../../../../src/domain/rca/metric-kind.ts";
import { rankServices } from "../../../../src/domain/rca/ranking.ts";
import { ringWindows } from "../../../../src/domain/rca/ring-windows.ts";
import { meanMoments } from "../../../../src/domain/trace/time-sums.ts";

const ONSET = Date.UTC(2026, 0, 5, 10);
const WINDOWS = 12;
const ERROR = 5;

function evidence(of: Partial<IncidentEvidence>): IncidentEvidence {
  const target = { serviceId: "front", metricName: "latency_ms" };
  const nothing = { series: [], lines: [], operations: [], calls: [], edges: [], changes: [], saturated: [], silent: [] };
  return { onsetMs: ONSET, untilMs: ONSET + 300_000, target, senders: [], members: [], ...nothing, ...of };
}

function series(serviceId: string, metricName: string, novelty: number, of: Partial<SeriesEvidence> = {}): SeriesEvidence {
  const past = Float32Array.from({ length: WINDOWS }, (_, i) => (i % 4) / 4);
  const departure = { mean: 20, sd: 2, peak: 60, peakAt: 1, onsetAt: 0, novelty, shift: novelty, past };
  return { serviceId, metricName, instance: null, peer: null, departure, onsetMs: ONSET, intervalMs: 10_000, ...of };
}

/** Requests of a service, and what they take by themselves. */
function operations(serviceId: string, msBefore: number, msNow: number): OperationEvidence[] {
  const window = (ms: number) => ({ spans: 40, errors: 0, self: meanMoments(40 * ms * 1_000, 40) });
  return [true, false].map((isEntry) => ({
    serviceId,
    operation: isEntry ? "" : "GET /",
    isEntry,
    past: Array.from({ length: WINDOWS }, (_, i) => window(msBefore * (1 + 0.02 * (i % 3)))),
    now: window(msNow),
  }));
}

function call(caller: string, callee: string, msBefore: number, msNow: number) {
  const window = (ms: number) => ({ calls: 40, errors: 0, duration: meanMoments(40 * ms * 1_000, 40), gap: meanMoments(40_000, 40) });
  return { caller, callee, isPeer: false, past: Array.from({ length: WINDOWS }, () => window(msBefore)), now: window(msNow) };
}

const firstOf = (of: Partial<IncidentEvidence>) => analyse(evidence(of)).candidates[0]?.serviceId;

describe("a service that waits", () => {
  it("is slower, and its threads are taken, because of whom it calls", () => {
    const first = firstOf({
      series: [series("front", "latency_ms", 12), series("front", "jvm_threads_live", 9), series("store", "latency_ms", 9)],
      operations: [...operations("front", 20, 21), ...operations("store", 10, 200)],
      calls: [call("front", "store", 10, 200)],
      edges: [["front", "store"]],
    });
    expect(first).toBe("store");
  });

  it("has connections that fill while its own calls take longer, as its metrics of calls say", () => {
    const { services } = rankServices(
      evidence({ series: [series("front", "db_pool_connections", 9), series("front", "client_latency_ms", 9, { peer: "store" })] }),
    );
    expect(services.find(({ serviceId }) => serviceId === "front")?.metrics?.resource).toBeLessThan(3);
    expect(services[0]?.serviceId).toBe("store");
  });
});

describe("a line of a failed call", () => {
  const line = (serviceId: string, template: string): LineEvidence => ({
    serviceId,
    template,
    severity: ERROR,
    past: new Float64Array(WINDOWS),
    now: 30,
  });
  const named = ["call to wallet failed: status <num> after <num> ms", "connect to wallet:8080 refused", "upstream wallet timed out"];

  it("says more of whom it names than of who writes it", () => {
    for (const template of named) {
      const findings = lineFindings(evidence({ lines: [line("rooms", template), line("wallet", "ready")] }));
      const strengthOf = (serviceId: string) =>
        Math.max(0, ...findings.filter((one) => one.serviceId === serviceId && one.template === template).map(({ strength }) => strength));
      expect(strengthOf("wallet"), template).toBeGreaterThan(strengthOf("rooms"));
    }
  });

  it("is outweighed by a line of one's own that names what is missing", () => {
    const lines = [line("rooms", "call to <*> failed: status <num>"), line("files", "could not extend file: No space left on device")];
    expect(firstOf({ lines })).toBe("files");
    expect(analyse(evidence({ lines })).category).toBe("infrastructure");
  });
});

describe("what is no cause by itself", () => {
  it("is what begins minutes after the anomaly that asks", () => {
    const late = { onsetMs: ONSET + 156_000 };
    const of = [series("front", "latency_ms", 4), series("store", "cpu_percent", 8)];
    expect(firstOf({ series: [...of, series("payments", "cpu_percent", 12, late)] })).toBe("store");
    expect(firstOf({ series: [...of, series("payments", "cpu_percent", 12)] })).toBe("payments");
  });

  it("is the silence that is asked about, and of another the metric is silence", () => {
    const silent = { silent: ["ingestion"], series: [series("front", "latency_ms", 0.1)] };
    const stale = { serviceId: "ingestion", metricName: "service.stale" };
    expect(analyse(evidence({ ...silent, target: stale })).enough).toBe(false);
    expect(analyse(evidence(silent)).candidates[0]).toMatchObject({ serviceId: "ingestion", metricName: "service.stale" });
  });

  it("is load where requests did not rise by a third", () => {
    const rates = (peak: number) =>
      ["gateway", "shop", "stock", "pay"].map((serviceId) => {
        const one = series(serviceId, "rps", 9);
        return { ...one, departure: { ...one.departure, shift: (peak - 20) / 2, peak } };
      });
    const edges = [
      ["gateway", "shop"],
      ["shop", "stock"],
      ["shop", "pay"],
    ] as const;
    expect(rankServices(evidence({ series: rates(45), edges })).surge?.serviceId).toBe("gateway");
    expect(rankServices(evidence({ series: rates(24), edges })).surge).toBeUndefined();
    expect(rankServices(evidence({ series: rates(45) })).surge?.serviceId).toBe("gateway");
  });
});

describe("who was hit", () => {
  it("are those with an anomaly of the incident too, in the first revision, whoever calls whom", () => {
    const of = { series: [series("disk-server", "disk_used_percent", 12)], members: ["disk-server", "reports", "mail"] };
    expect(
      analyse(evidence(of))
        .impact.map(({ serviceId }) => serviceId)
        .sort(),
    ).toEqual(["mail", "reports"]);
  });
});

describe("the shift of medians", () => {
  const past = (outlier = 1) => Float64Array.from({ length: 12 }, (_, i) => (10 + (i % 3)) * (i === 4 ? outlier : 1));

  it("is not moved by an outlier, and larger for a larger shift however large", () => {
    const novelty = (outlier: number, now: number) => medianShift(past(outlier), Float64Array.from([10, now, now]))!.novelty;
    expect(novelty(50, 40)).toBeCloseTo(novelty(1, 40), 0);
    expect(novelty(1, 1e6)).toBeGreaterThan(novelty(1, 1e4) + 3);
    expect(medianShift(past().subarray(0, 5), Float64Array.of(9))).toBeUndefined();
  });

  it("counts where history is short, the peak where it is long", () => {
    const cutOf = (before: number, since: number) => {
      const times = Float64Array.from({ length: before + since }, (_, i) => ONSET + 600_000 * (i - before));
      const values = Float64Array.from(times, (_, i) => (i === before + 1 ? 90 : 10 + (i % 3)));
      return ringWindows(times, values, times.length, { onsetMs: ONSET, untilMs: times.at(-1)! })!.windows;
    };
    expect([cutOf(12, 5).isShort, cutOf(100, 5).isShort]).toEqual([true, false]);
    expect(departureOf(cutOf(100, 5))!.novelty).toBeGreaterThan(5);
    expect(departureOf(cutOf(12, 5))!.novelty).toBeLessThan(1);
  });
});

it("knows what names of metrics mean in more houses", () => {
  const kinds = {
    "timers.request.upper_95": "latency",
    CPUUtilization: "cpu",
    "jvm.thread.count": "pool",
    conn_used: "pool",
    "db.lock.waiters": "pool",
    "system.network.io": "network",
    CacheHitRate: "other",
    "counters.hits.rate": "rate",
  };
  for (const [name, kind] of Object.entries(kinds)) expect(meaningOf(name).kind, name).toBe(kind);
  expect(meaningOf("counters.hits.rate").harm).toBe(0);
});
