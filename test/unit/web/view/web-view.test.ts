import { describe, expect, it } from "vitest";
import { chartPoints, columnsOf, usualStepMs, withJudgedBounds } from "../../../../src/web/view/chart-columns.ts";
import { BURST_GAP_MS, feedRows, takeChanges } from "../../../../src/web/view/feed.ts";
import { formBody } from "../../../../src/web/view/form-body.ts";
import { layoutGraph, NODES_DRAWN } from "../../../../src/web/view/graph-layout.ts";
import { listedColumns, listedRows } from "../../../../src/web/view/listed-rows.ts";
import { fixedQuery, parseRoute, rangeOf, relativeMs, routeLink } from "../../../../src/web/view/location.ts";
import { matchersText, parseMatchers, silenced } from "../../../../src/web/view/matchers.ts";
import { maturityText } from "../../../../src/web/view/maturity-text.ts";
import { departureText } from "../../../../src/web/view/number-text.ts";
import { outcomeText } from "../../../../src/web/view/reason.ts";
import { parseLines, parts, previewEntries } from "../../../../src/web/view/service-map-lines.ts";
import { backtestText, changedSettings } from "../../../../src/web/view/settings-change.ts";
import { durationText, fullTime, isZone, offsetText, shortTime } from "../../../../src/web/view/time-text.ts";

describe("places and links", () => {
  it("come back as they went, whatever names hold", () => {
    const path = ["service", "a/b?c#d %é\u202e"];
    const query = { environment: "", metric: "x&y=z", q: "a b" };
    expect(parseRoute(routeLink(path, query))).toEqual({ path, query });
    expect(parseRoute(routeLink(path, { q: "", metric: undefined })).query).toEqual({});
    expect(parseRoute("#/service/%E0%A4%A").path).toEqual(["service", "%E0%A4%A"]);
  });

  it("fix a relative range for a link that is read later", () => {
    const nowMs = Date.parse("2026-01-31T12:00:00Z");
    expect(fixedQuery({ range: "6h", q: "x" }, "1d", nowMs)).toEqual({
      q: "x",
      from: "2026-01-31T06:00:00.000Z",
      to: "2026-01-31T12:00:00.000Z",
    });
    expect(rangeOf({ from: "2026-01-31T00:00:00Z", to: "2026-01-30T00:00:00Z" }, "1h")).toEqual({ kind: "last", ms: 3_600_000 });
    expect([relativeMs("15m"), relativeMs("0h"), relativeMs("h")]).toEqual([900_000, undefined, undefined]);
  });
});

describe("times", () => {
  it("are told in one zone with its offset, summer time included", () => {
    const winter = Date.parse("2026-01-31T12:00:00Z");
    const summer = Date.parse("2026-07-31T12:00:00Z");
    expect([fullTime(winter, "Europe/Berlin"), offsetText(winter, "Europe/Berlin")]).toEqual(["2026-01-31 13:00:00", "UTC+1"]);
    expect([fullTime(summer, "Europe/Berlin"), offsetText(summer, "Europe/Berlin")]).toEqual(["2026-07-31 14:00:00", "UTC+2"]);
    expect(shortTime(winter, winter + 60_000, "UTC")).toBe("12:00:00");
    expect([isZone("Asia/Tokyo"), isZone("Mars/Base")]).toEqual([true, false]);
    expect([durationText(59_400), durationText(90 * 60_000), durationText(50 * 3_600_000)]).toEqual(["59 s", "1 h 30 min", "2 d 2 h"]);
  });
});

function anomaly(at: number, serviceId: string, more: object = {}) {
  return {
    anomaly_id: `${serviceId} ${at}`,
    alert_id: null,
    service_id: serviceId,
    metric_name: "m",
    environment: "",
    severity: "low" as const,
    direction: "high" as const,
    anomaly_score: 0.5,
    detected_at: new Date(at).toISOString(),
    resolved: false,
    detector: "z_score",
    explanation: "",
    outcome: null,
    suppressed_by: null,
    ...more,
  };
}

describe("the feed", () => {
  it("folds many services of one metric within seconds into one row, and members of an alert into another", () => {
    const burst = Array.from({ length: 992 }, (_, at) => anomaly(1_000_000 - at * 10, `s${at}`));
    const far = anomaly(1_000_000 - 992 * 10 - 2 * BURST_GAP_MS, "late");
    const rows = feedRows([
      ...burst,
      far,
      anomaly(5, "a", { alert_id: "x", metric_name: "n" }),
      anomaly(4, "b", { alert_id: "x", severity: "high", metric_name: "n" }),
    ]);
    expect(rows.map(({ kind, services }) => [kind, services])).toEqual([
      ["burst", 992],
      ["one", 1],
      ["alert", 2],
    ]);
    expect(rows[2]?.worst.severity).toBe("high");
  });

  it("changes rows where they stand and gives new ones apart", () => {
    const list = [
      { id: "a", v: 1 },
      { id: "b", v: 1 },
    ];
    const taken = takeChanges(
      list,
      [
        { id: "b", v: 2 },
        { id: "c", v: 3 },
      ],
      ({ id }) => id,
    );
    expect(taken.list).toEqual([
      { id: "a", v: 1 },
      { id: "b", v: 2 },
    ]);
    expect(taken.fresh).toEqual([{ id: "c", v: 3 }]);
    expect(takeChanges(list, [], ({ id }) => id).list).toBe(list);
  });
});

describe("the box of the pillar map", () => {
  it("reads lines with tabs, quotes, CRLF and a header; faults have their line", () => {
    const parsed = parseLines(
      'service_id,tenant_id,product_id\r\ncheckout, acme, shop\r\n"a,b"\tacme\r\n\r\n, acme\r\nx,y,z,w\r\ncheckout,globex\r\n"open,acme',
    );
    expect(parsed.entries).toEqual([
      { service_id: "a,b", tenant_id: "acme", product_id: "" },
      { service_id: "checkout", tenant_id: "globex", product_id: "" },
    ]);
    expect(parsed.faults.map(({ line }) => line)).toEqual([5, 6, 8]);
    expect([parsed.hasHeader, parsed.doubled]).toEqual([true, ["checkout"]]);
  });

  it("says what would change, and cuts into parts", () => {
    const entry = (service_id: string, tenant_id: string) => ({ service_id, tenant_id, product_id: "" });
    const stored = new Map([
      ["a", entry("a", "t")],
      ["b", entry("b", "t")],
      ["c", entry("c", "t")],
    ]);
    const preview = previewEntries([entry("a", "t"), entry("b", "u"), entry("c", ""), entry("d", "t")], stored, new Set(["a"]));
    expect(preview.map(({ change }) => change)).toEqual(["same", "changed", "unmapped", "new"]);
    expect(preview.map(({ isNeverSeen }) => isNeverSeen)).toEqual([false, true, true, true]);
    expect(parts([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  });
});

describe("the graph's layout", () => {
  it("puts callers left of what they call, cuts cycles, and draws the same again", () => {
    const node = (id: string, weight = 1) => ({ id, weight });
    const edge = (from: string, to: string) => ({ from, to, weight: 1 });
    const nodes = ["db", "shop", "pay", "api"].map((id) => node(id));
    const edges = [edge("shop", "api"), edge("api", "pay"), edge("pay", "db"), edge("db", "shop")];
    const layout = layoutGraph(nodes, edges);
    const layers = Object.fromEntries(layout.nodes.map(({ id, layer }) => [id, layer]));
    expect(new Set(Object.values(layers)).size).toBe(4);
    expect(layoutGraph([...nodes].reverse(), edges)).toEqual(layout);
    const many = layoutGraph(
      Array.from({ length: NODES_DRAWN + 312 }, (_, at) => node(`n${at}`, at)),
      [],
    );
    expect([many.nodes.length, many.left]).toEqual([NODES_DRAWN, 312]);
  });
});

describe("charts", () => {
  it("break the line where values are missing", () => {
    const points = chartPoints(
      [0, 10, 20, 30, 200].map((s) => ({ timestamp: new Date(s * 1000).toISOString(), value: s, expected: null, lower: 1, upper: 2 })),
    );
    expect(usualStepMs(points)).toBe(10_000);
    const [times, upper, lower, expected, values] = columnsOf(points);
    expect(times).toEqual([0, 10, 20, 30, 30.001, 200]);
    expect(values).toEqual([0, 10, 20, 30, null, 200]);
    expect([upper[0], lower[0], expected[0]]).toEqual([2, 1, null]);
  });
});

describe("the band of a chart", () => {
  it("stays as it was judged while an anomaly lasts", () => {
    const points = [0, 1, 2, 3].map((atMs) => ({ atMs, value: atMs, expected: 9, lower: 8, upper: 10 }));
    const judged = withJudgedBounds(points, [{ startMs: 1, endMs: 2, expected: 0, lower: -1, upper: 1 }]);
    expect(judged.map(({ upper }) => upper)).toEqual([10, 1, 1, 10]);
  });
});

describe("matchers", () => {
  it("come back as they went, and select as the server does", () => {
    const labels = { service_id: 'a"b\\c', environment: "" };
    const parsed = parseMatchers(matchersText(labels));
    expect(parsed).toMatchObject({ ok: true, matchers: [{ name: "service_id", operator: "=", value: 'a"b\\c' }, { value: "" }] });
    const of = (text: string) => (parseMatchers(text) as Extract<ReturnType<typeof parseMatchers>, { ok: true }>).matchers;
    expect(silenced({ service_id: "cart" }, of("service_id=~checkout|cart"))).toBe(true);
    expect(silenced({ service_id: "cart2" }, of("service_id=~checkout|cart"))).toBe(false);
    expect(silenced({}, of("team!=x"))).toBe(true);
    expect(parseMatchers(" \n")).toMatchObject({ ok: false });
    expect(parseMatchers("service_id")).toMatchObject({ ok: false });
  });
});

describe("forms and settings", () => {
  it("make a body of what was typed", () => {
    const fields = [
      { name: "a", label: "A", isRequired: true },
      { name: "n", label: "N", kind: "number" as const },
      { name: "l", label: "L", kind: "list" as const },
      { name: "p", label: "P", kind: "pairs" as const },
    ];
    expect(formBody(fields, { a: " x ", n: "3", l: "a, b,", p: "k=v\n\nm=n=o" })).toEqual({
      body: { a: "x", n: 3, l: ["a", "b"], p: { k: "v", m: "n=o" } },
    });
    expect(formBody(fields, {})).toEqual({ fault: "A is missing" });
    expect(formBody(fields, { a: "x", n: "three" })).toMatchObject({ fault: expect.stringContaining("number") });
  });

  it("send what differs, and say what it would have done", () => {
    expect(changedSettings({ z: { value: 3 }, excluded: { value: false } }, { z: "4", excluded: "false" })).toEqual({ z: 4 });
    expect(backtestText({ before: 14, after: 3, newly: 1, no_longer: 12 })).toBe(
      "It would have paged 12 times less and once more: 3 instead of 14.",
    );
    expect(backtestText({ before: 1, after: 1, newly: 0, no_longer: 0 })).toBe("It would have paged as it did: 1 page.");
  });
});

describe("words", () => {
  it("say how far a value is from the usual, and what became of it", () => {
    expect([departureText(412, 180), departureText(9, 60), departureText(5, 0)]).toEqual([
      "2.3 times the usual",
      "85 % below the usual",
      null,
    ]);
    expect([outcomeText("suppressed", "not_persistent"), outcomeText("paged", null), outcomeText(null, null)]).toEqual([
      "on hold: not persistent",
      "paged",
      null,
    ]);
    const holds = ["confirmation", "warmup", "dedup"].map((gate) => outcomeText("suppressed", gate));
    expect(holds).toEqual(["on hold: not confirmed yet", "on hold: server just started", "on hold: already notified"]);
    expect([maturityText("young"), maturityText("mature")]).toEqual(["baseline: learning", "baseline: ready"]);
  });

  it("find the rows of an answer", () => {
    expect(listedRows({ total: 1, models: [{ id: "a", tags: {}, n: 1 }] })).toHaveLength(1);
    expect(listedRows({ message: "x" })).toEqual([]);
    expect(listedColumns([{ tags: {}, id: "a" }])).toEqual(["id", "tags"]);
  });
});

describe("the columns of a chart", () => {
  it("join hours that are forecast behind minutes that were observed (B1)", () => {
    const bounds = { expected: 1, lower: 0, upper: 2 };
    const minutes = Array.from({ length: 10 }, (_, at) => ({ atMs: at * 60_000, value: 1, ...bounds }));
    const hours = Array.from({ length: 5 }, (_, at) => ({ atMs: (at + 1) * 3_600_000, value: null, ...bounds }));
    const [times, , , expected] = columnsOf([...minutes, ...hours]);
    expect([times.length, expected.slice(10)]).toEqual([15, [1, 1, 1, 1, 1]]);
  });
});
