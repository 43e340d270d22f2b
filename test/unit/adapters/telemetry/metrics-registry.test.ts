import { describe, expect, it } from "vitest";
import { MetricsRegistry } from "../../../../src/adapters/telemetry/metrics-registry.ts";
import { COORDINATOR_METRICS } from "../../../../src/core/telemetry/coordinator-metrics.ts";
import { ENGINE_METRICS } from "../../../../src/core/telemetry/engine-metrics.ts";
import { CONTRACT_METRICS, FRONT_METRICS, LABELLED_METRICS } from "../../../../src/core/telemetry/front-metrics.ts";
import { counter, gauge, histogram, type Metric, partsOf, type SlotMetric } from "../../../../src/core/telemetry/metric.ts";

interface Sample {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly value: number;
}

/** A strict reader of the text format: every line must be what the format says, families contiguous, HELP and TYPE first, no repeated series. */
function parse(text: string): Map<string, { type: string; help: string; samples: Sample[] }> {
  expect(text === "" || text.endsWith("\n")).toBe(true);
  const families = new Map<string, { type: string; help: string; samples: Sample[] }>();
  const seen = new Set<string>();
  let current = "";
  let help: string | undefined;
  for (const line of text.split("\n").slice(0, -1)) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line);
    if (comment) {
      const [, kind, name = "", rest = ""] = comment;
      if (kind === "HELP") {
        expect(families.has(name)).toBe(false);
        help = rest.replace(/\\(.)/g, (_, c: string) => (c === "n" ? "\n" : c));
        current = name;
      } else {
        expect(name).toBe(current);
        expect(["counter", "gauge", "histogram"]).toContain(rest);
        families.set(name, { type: rest, help: help as string, samples: [] });
      }
      continue;
    }
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"(?:,(?!\}))?)+)\})? (\S+)$/.exec(line);
    if (!sample) throw new Error(`not a sample: ${line}`);
    const [, name = "", pairs = "", number = ""] = sample;
    expect(name === current || [`${current}_bucket`, `${current}_sum`, `${current}_count`].includes(name)).toBe(true);
    expect(seen.has(`${name}{${pairs}}`)).toBe(false);
    seen.add(`${name}{${pairs}}`);
    const labels = Object.fromEntries(
      [...pairs.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, label = "", value = ""]) => [
        label,
        value.replace(/\\(.)/g, (_, c: string) => (c === "n" ? "\n" : c)),
      ]),
    );
    const value = number === "+Inf" ? Number.POSITIVE_INFINITY : number === "-Inf" ? Number.NEGATIVE_INFINITY : Number(number);
    expect(number === "NaN" || !Number.isNaN(value)).toBe(true);
    families.get(current)?.samples.push({ name, labels, value });
  }
  return families;
}

/** A page of these metrics. */
function pageOf(fill: (registry: MetricsRegistry) => void): Promise<string> {
  const registry = new MetricsRegistry();
  fill(registry);
  return registry.page();
}

describe("the registry of metrics", () => {
  it("writes counters and gauges with every character escaped, and leaves out what has no value", async () => {
    const odd = 'quote " backslash \\ newline \n end';
    const page = await pageOf((registry) => {
      registry.add(counter("a_total", "first\nline \\ more", ["path", "x"]), [
        { labels: {}, read: () => 1 },
        { labels: { path: odd, x: "é" }, read: () => 2.5 },
      ]);
      registry.add(gauge("b", "b", ["i"]), [
        { labels: {}, read: () => Number.POSITIVE_INFINITY },
        { labels: { i: "1" }, read: () => Number.NaN },
        { labels: { i: "2" }, read: () => 1e21 },
        { labels: { i: "3" }, read: () => null },
      ]);
      registry.add(gauge("none", "no values"), []);
      registry.add(gauge("absent", "no values yet"), [{ labels: {}, read: () => null }]);
    });
    const families = parse(page);
    expect([...families.keys()]).toEqual(["a_total", "b"]);
    expect(families.get("a_total")).toEqual({
      type: "counter",
      help: "first\nline \\ more",
      samples: [
        { name: "a_total", labels: {}, value: 1 },
        { name: "a_total", labels: { path: odd, x: "é" }, value: 2.5 },
      ],
    });
    expect(families.get("b")?.samples.map(({ value }) => value)).toEqual([Number.POSITIVE_INFINITY, Number.NaN, 1e21]);
  });

  it("reads values when the page is asked for", async () => {
    const slots = new Float64Array(1);
    const registry = new MetricsRegistry();
    registry.add(gauge("a", "a"), [{ labels: {}, read: () => slots[0] as number }]);
    slots[0] = 1;
    expect(await registry.page()).toContain("\na 1\n");
    slots[0] = 2;
    expect(await registry.page()).toContain("\na 2\n");
  });

  it("writes histograms with cumulative buckets up to +Inf", async () => {
    const labels = { endpoint: "/x/{id}" };
    const text = await pageOf((registry) =>
      registry.addHistogram(histogram("h_seconds", "h", ["endpoint"]), () => [
        { labels, bounds: [0.1, 1], slots: Float64Array.of(2, 3, 1, 4.5) },
      ]),
    );
    expect(parse(text).get("h_seconds")?.samples).toEqual([
      { name: "h_seconds_bucket", labels: { ...labels, le: "0.1" }, value: 2 },
      { name: "h_seconds_bucket", labels: { ...labels, le: "1" }, value: 5 },
      { name: "h_seconds_bucket", labels: { ...labels, le: "+Inf" }, value: 6 },
      { name: "h_seconds_sum", labels, value: 4.5 },
      { name: "h_seconds_count", labels, value: 6 },
    ]);
  });

  it("refuses names that the format does not take, labels that are not declared, and a name twice", () => {
    const family = (name: string, declared: string, label: string) => () =>
      new MetricsRegistry().add(gauge(name, "", [declared]), [{ labels: { [label]: "" }, read: () => 0 }]);
    expect(family("9a", "x", "x")).toThrow(RangeError);
    expect(family("a", "x-y", "x-y")).toThrow(RangeError);
    expect(family("a", "__x", "__x")).toThrow(RangeError);
    expect(family("a", "x", "y")).toThrow(RangeError);
    const registry = new MetricsRegistry();
    registry.add(gauge("twice", ""), []);
    expect(() => registry.add(gauge("twice", ""), [])).toThrow(/already been registered/);
  });

  it("has the library's families of the process and of Node, but none that is misnamed", async () => {
    const families = parse(await pageOf((registry) => registry.addDefaults()));
    const names = [...families.keys()];
    expect(names).toEqual(expect.arrayContaining(["process_cpu_seconds_total", "process_resident_memory_bytes", "nodejs_version_info"]));
    expect(names.every((name) => /^(process|nodejs)_/.test(name))).toBe(true);
    for (const name of names) expect([name, name.endsWith("_total")]).toEqual([name, families.get(name)?.type === "counter"]);
  });
});

/** Every declared metric. */
const DECLARED = [
  ...[ENGINE_METRICS, COORDINATOR_METRICS].flatMap((table) =>
    Object.values<SlotMetric>(table).flatMap((slot) => partsOf(slot).map(({ metric }) => metric)),
  ),
  ...[FRONT_METRICS, CONTRACT_METRICS, LABELLED_METRICS].flatMap((table) => Object.values<Metric>(table)),
];

describe("declared metrics", () => {
  it("have a help, and a name that says type and unit", () => {
    for (const metric of new Set(DECLARED)) {
      const { name, help, type } = metric;
      expect(help.length).toBeGreaterThan(5);
      expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
      for (const unit of ["seconds", "bytes", "ratio"]) {
        if (name.split("_").includes(unit)) expect(name).toMatch(new RegExp(`_${unit}(?:_total)?$`));
      }
    }
  });

  it("have one declaration each", () => {
    const names = [...new Set(DECLARED)].map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    expect(names.length).toBeGreaterThan(150);
  });

  it("have declared labels alone on their slots", () => {
    for (const table of [ENGINE_METRICS, COORDINATOR_METRICS]) {
      for (const slot of Object.values<SlotMetric>(table)) {
        for (const { metric, labels } of partsOf(slot)) for (const label of Object.keys(labels)) expect(metric.labels).toContain(label);
      }
    }
  });
});
