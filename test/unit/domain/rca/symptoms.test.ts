// What is a symptom of others is no cause: waiting, what fills meanwhile, lines of failed calls, load, silence that is to be explained, what begins later.
import { describe, expect, it } from "vitest";
import { type Analysis, analyse } from "../../../../src/domain/rca/analysis.ts";
import { departureOf } from "../../../../src/domain/rca/departure.ts";
import type { IncidentEvidence, LineEvidence, OperationEvidence, SeriesEvidence } from "../../../../src/domain/rca/evidence.ts";
import { lineFindings } from "../../../../src/domain/rca/line-findings.ts";
import { medianShift } from "../../../../src/domain/rca/median-shift.ts";
import { meaningOf } from "../../../../src/domain/rca/metric-kind.ts";
import { rankServices } from "../../../../src/domain/rca/ranking.ts";
import { ringWindows } from "../../../../src/domain/rca/ring-windows.ts";
import { nodeTies } from "../../../../src/domain/rca/shared-nodes.ts";
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
  return { serviceId, metricName, instance: null, node: null, peer: null, departure, onsetMs: ONSET, intervalMs: 10_000, ...of };
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
    expect(firstOf({ lines, members: ["rooms"] })).toBe("files");
    expect(analyse(evidence({ lines, members: ["rooms"] })).category).toBe("infrastructure");
  });
});

describe("what few windows before say of a usual day", () => {
  // A store whose processor is as far out as the largest of a usual day, and a third more; a far larger departure.
  const seen = (windows: number, novelty: number) => {
    const past = Float32Array.from({ length: windows }, (_, i) => (i % 4) / 4);
    const store = series("store", "cpu_percent", novelty);
    return analyse(evidence({ series: [{ ...store, departure: { ...store.departure, past } }, series("front", "latency_ms", 0.1)] }));
  };

  it("is little: a cause must show more than among many", () => {
    expect(seen(12, 5.5).enough).toBe(false);
    expect(seen(24, 5.5).enough).toBe(false);
    expect(seen(60, 5.5).enough).toBe(true);
    expect(seen(12, 12).enough).toBe(true);
  });

  it("makes a cause as sure as what it shows, however far the second is behind", () => {
    const [some, more, much] = [7, 10, 30].map((novelty) => seen(12, novelty).confidence) as [number, number, number];
    expect(some).toBeLessThan(0.7);
    expect(more).toBeGreaterThan(some);
    expect(much).toBeGreaterThan(0.9);
    expect(seen(60, 7).confidence).toBeGreaterThan(some);
  });
});

describe("what is no cause by itself", () => {
  it("B5: is what begins minutes after the anomaly that asks", () => {
    const late = { onsetMs: ONSET + 156_000 };
    const of = [series("front", "latency_ms", 4), series("store", "cpu_percent", 8)];
    expect(firstOf({ series: [...of, series("payments", "cpu_percent", 12, late)] })).toBe("store");
    expect(firstOf({ series: [...of, series("payments", "cpu_percent", 12)] })).toBe("payments");
  });

  it("B6: is a silence of itself: it counts where others that still send suffer from it, and its metric is silence", () => {
    const stale = { serviceId: "checkout", metricName: "service.stale" };
    const calm = { silent: ["checkout"], members: ["checkout", "front"], series: [series("front", "latency_ms", 0.1)] };
    const hit = { ...calm, series: [series("front", "latency_ms", 6)] };
    expect(analyse(evidence({ ...hit, target: stale })).candidates.map(({ metricName }) => metricName)).not.toContain("service.stale");
    expect(analyse(evidence(calm)).enough).toBe(false);
    expect(analyse(evidence({ ...hit, silent: ["checkout", "front"] })).candidates[0]?.metricName).not.toBe("service.stale");
    expect(analyse(evidence(hit)).candidates[0]).toMatchObject({ serviceId: "checkout", metricName: "service.stale" });
    const uncalled = evidence({ ...hit, edges: [["cart", "checkout"]] });
    expect(analyse(uncalled).candidates[0]?.serviceId).toBe("front");
  });

  it("is load where requests did not rise by a third", () => {
    const rates = (peak: number, names = ["gateway", "shop", "stock", "pay"]) =>
      names.map((serviceId) => {
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
    const apart = ["node", "prometheus", "vedette", "pay"];
    expect(rankServices(evidence({ series: rates(45, apart) })).surge).toBeUndefined();
    expect(rankServices(evidence({ series: rates(45, apart), edges: [["node", "pay"]] })).surge?.serviceId).toBe("node");
  });
});

describe("whom nothing joins with the incident", () => {
  const disk = { serviceId: "archive", metricName: "disk_used_percent", instance: null, used: 1 };
  const own = series("front", "latency_ms", 12);
  const level = series("archive", "disk_used_percent", 0.5);
  const edges = [["front", "archive"]] as const;

  it("is no cause by a disk that has been filling for days; who is called is, and whose disk departs", () => {
    expect(firstOf({ series: [own, level], saturated: [disk] })).not.toBe("archive");
    const isNamed = ({ candidates }: Analysis) =>
      candidates.some(({ serviceId, evidence: [of] }) => serviceId === "archive" && of?.source === "saturation");
    expect(isNamed(analyse(evidence({ series: [own, level], saturated: [disk], edges })))).toBe(true);
    expect(firstOf({ series: [own, series("archive", "disk_used_percent", 9)], saturated: [disk] })).toBe("archive");
  });

  it("is no cause of what nothing is seen of: an alert of another system, a person's, a silence", () => {
    const other = [series("batch", "cpu_percent", 20), series("archive", "disk_used_percent", 9)];
    expect(analyse(evidence({ series: other, saturated: [disk] })).candidates).toEqual([]);
    expect(firstOf({ series: other, edges: [["front", "batch"]] })).toBe("batch");
    expect(firstOf({ series: [...other, own] })).toBe("batch");
  });

  it("is no cause of a resource by being slow", () => {
    const of = { series: [series("api", "response_ms", 40), series("archive", "disk_used_percent", 0.5)], saturated: [disk] };
    const asked = (metricName: string) => analyse(evidence({ ...of, target: { serviceId: "archive", metricName } }));
    expect(asked("disk_used_percent")).toMatchObject({ enough: false });
    expect(asked("latency_ms").candidates[0]?.serviceId).toBe("api");
  });

  it("is no cause by what begins minutes later, however far it departs, also where it sends nothing else", () => {
    const late = { onsetMs: ONSET + 90_000 };
    for (const metricName of ["error_count", "disk_used_percent", "latency_ms"]) {
      const { enough, candidates } = analyse(
        evidence({ series: [series("front", "queue_depth", 6), series("batch", metricName, 60, late)] }),
      );
      expect(enough && candidates[0]?.serviceId, metricName).not.toBe("batch");
    }
  });
});

describe("who was hit", () => {
  it("B7: are those with an anomaly of the incident too, in the first revision, whoever calls whom", () => {
    const of = { series: [series("disk-server", "disk_used_percent", 12)], members: ["disk-server", "reports", "mail"] };
    expect(
      analyse(evidence(of))
        .impact.map(({ serviceId }) => serviceId)
        .sort(),
    ).toEqual(["mail", "reports"]);
  });
});

describe("whom a cause reaches", () => {
  const edges = [
    ["front", "cart"],
    ["front", "pay"],
    ["cart", "store"],
    ["pay", "store"],
    ["batch", "store"],
    ["store", "disk"],
  ] as const;

  it("are the callers that show it, and those of which nothing is known; not those that are seen to go on", () => {
    const of = [
      series("store", "cpu_percent", 12),
      series("store", "latency_ms", 9),
      series("cart", "latency_ms", 7),
      series("front", "latency_ms", 5),
    ];
    const { affected } = analyse(evidence({ series: [...of, series("pay", "latency_ms", 0.2)], edges }));
    expect(affected).toEqual(["cart", "batch", "front"]);
  });

  it("are callees of a door where load rises", () => {
    const rates = ["front", "cart", "pay", "store"].map((serviceId) => {
      const one = series(serviceId, "rps", 9);
      return { ...one, departure: { ...one.departure, shift: 12, peak: 44 } };
    });
    const named = (one: SeriesEvidence) => ({ ...one, serviceId: one.serviceId === "front" ? "gateway" : one.serviceId });
    const times = [series("store", "latency_ms", 6), series("cart", "latency_ms", 0.2), series("pay", "latency_ms", 0.3)];
    const { candidates, affected } = analyse(evidence({ series: [...rates, ...times], edges: edges.slice(0, 4) }));
    expect([candidates[0]?.serviceId, affected]).toEqual(["front", ["store"]]);
    expect(analyse(evidence({ series: [...rates, ...times].map(named), members: ["store"] })).affected).toEqual(["store"]);
  });
});

describe("a service whose calls fail before they reach it", () => {
  const requests = (serviceId: string, count: number, errors: number): OperationEvidence => ({
    serviceId,
    operation: "",
    isEntry: true,
    past: Array.from({ length: WINDOWS }, () => ({ spans: 40, errors: 0, self: meanMoments(0, 0) })),
    now: { spans: count, errors, self: meanMoments(0, 0) },
  });

  it("is the cause, not whoever calls it, as its callers' spans say", () => {
    const refused = call("front", "store", 10, 1);
    const calls = [{ ...refused, now: { ...refused.now, errors: 36 } }];
    const { candidates } = analyse(
      evidence({ operations: [requests("front", 40, 36), requests("store", 4, 0)], calls, edges: [["front", "store"]] }),
    );
    expect(candidates[0]?.serviceId).toBe("store");
    expect(candidates[0]?.evidence[0]?.text).toContain("fail before they reach it");
  });

  it("is so by metrics that count failed calls of it while it is asked less", () => {
    const less = series("store", "http_requests_total", 8);
    const of = [
      { ...less, departure: { ...less.departure, shift: -8, peak: 2 } },
      series("front", "http_client_request_errors", 9, { peer: "store" }),
      series("front", "http_server_errors", 9),
    ];
    expect(firstOf({ series: of })).toBe("store");
    expect(firstOf({ series: [of[1]!, of[2]!, series("store", "http_requests_total", 0)] })).not.toBe("store");
  });
});

describe("a machine", () => {
  const on = (serviceId: string, metricName: string, novelty: number, node: string) =>
    series(serviceId, metricName, novelty, { node, instance: `${serviceId} on ${node}` });
  const shared = [
    on("batch", "cpu_percent", 9, "node-1"),
    on("cart", "latency_ms", 7, "node-1"),
    on("cart", "latency_ms", 1, "node-2"),
    on("mail", "latency_ms", 7, "node-1"),
    on("mail", "cpu_percent", 4, "node-1"),
  ];

  it("names the service that has taken what its neighbours lack, though nobody calls it", () => {
    const { candidates, category, affected } = analyse(evidence({ series: shared, members: ["cart"] }));
    expect([candidates[0]?.serviceId, category, affected]).toEqual(["batch", "infrastructure", ["cart", "mail"]]);
    expect(candidates[0]?.evidence.some(({ text }) => text.includes("shares node-1"))).toBe(true);
  });

  it("ties nobody who suffers elsewhere as much, or whose callee explains it", () => {
    const everywhere = [...shared, on("cart", "latency_ms", 7, "node-3")];
    expect(nodeTies(evidence({ series: everywhere })).size).toBe(0);
    const explained = evidence({ series: [...shared, on("stock", "latency_ms", 9, "node-4")], edges: [["mail", "stock"]] });
    expect(nodeTies(explained).size).toBe(0);
    expect(nodeTies(evidence({ series: shared, edges: [["cart", "batch"]] })).size).toBe(0);
  });

  it("whose own processor departs ties one neighbour", () => {
    const one = shared.slice(0, 2);
    expect(nodeTies(evidence({ series: one })).size).toBe(0);
    expect(nodeTies(evidence({ series: [...one, on("agent", "node_cpu_utilization", 8, "node-1")] })).get("batch")?.neighbours).toEqual([
      "cart",
    ]);
  });
});

describe("a series that never changed", () => {
  it("and shows one count is no farther off than a large departure of another", () => {
    const zeros = Float64Array.from({ length: 120 }, (_, i) => (i === 116 ? 1 : 0));
    const times = Float64Array.from(zeros, (_, i) => ONSET + 10_000 * (i - 115));
    const cut = ringWindows(times, zeros, 120, { onsetMs: ONSET, untilMs: times.at(-1)! })!;
    expect(cut.isShort).toBe(false);
    expect(departureOf(cut)!.novelty).toBeLessThan(8);
  });
});

describe("the shift of medians", () => {
  const past = (outlier = 1) => Float64Array.from({ length: 12 }, (_, i) => (10 + (i % 3)) * (i === 4 ? outlier : 1));

  it("is not moved by an outlier, and larger for a larger shift however large", () => {
    const novelty = (outlier: number, now: number) => medianShift(Float64Array.of(...past(outlier), 10, now, now), 0, 12, 15)!.novelty;
    expect(novelty(50, 40)).toBeCloseTo(novelty(1, 40), 0);
    expect(novelty(1, 1e6)).toBeGreaterThan(novelty(1, 1e4) + 3);
    expect(medianShift(Float64Array.of(...past().subarray(0, 5), 9), 0, 5, 6)).toBeUndefined();
  });

  it("counts where history is short, the peak where it is long", () => {
    const cutOf = (before: number, since: number) => {
      const times = Float64Array.from({ length: before + since }, (_, i) => ONSET + 600_000 * (i - before));
      const values = Float64Array.from(times, (_, i) => (i === before + 1 ? 90 : 10 + (i % 3)));
      return ringWindows(times, values, times.length, { onsetMs: ONSET, untilMs: times.at(-1)! })!;
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

describe("two systems that break in the same second and do not call each other", () => {
  const broken = {
    series: [
      ...[series("front", "latency_ms", 12), series("store", "disk_io_time", 9), series("store", "latency_ms", 8)],
      ...[series("portal", "latency_ms", 40), series("ledger", "memory_usage", 60), series("ledger", "latency_ms", 50)],
    ],
    edges: [
      ["front", "store"],
      ["portal", "ledger"],
    ] as Array<[string, string]>,
  };
  const namedFor = (serviceId: string, of: Partial<IncidentEvidence> = {}) => {
    const target = { serviceId, metricName: "latency_ms" };
    return analyse(evidence({ ...broken, target, members: [serviceId], ...of })).candidates.map((candidate) => candidate.serviceId);
  };

  it("have a cause each, however much louder the other is", () => {
    expect([namedFor("front")[0], namedFor("portal")[0]]).toEqual(["store", "ledger"]);
    expect(namedFor("front")).not.toContain("ledger");
    expect(namedFor("portal")).not.toContain("store");
  });

  it("are one where calls, a machine or an incident of both join them, and where nothing is known of who calls", () => {
    const node = "node-3";
    const onOneNode = broken.series.map((one) => (one.serviceId === "front" || one.serviceId === "ledger" ? { ...one, node } : one));
    expect(namedFor("front", { series: onOneNode })[0]).toBe("ledger");
    expect(namedFor("front", { edges: [...broken.edges, ["front", "portal"]] })[0]).toBe("ledger");
    expect(namedFor("front", { members: ["front", "portal"] })[0]).toBe("ledger");
    expect(namedFor("front", { edges: [["front", "store"]] })[0]).toBe("ledger");
    expect(namedFor("front", { edges: [] })[0]).toBe("ledger");
  });
});
