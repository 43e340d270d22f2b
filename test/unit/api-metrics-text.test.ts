import { describe, expect, it } from "vitest";
import { writeMetrics } from "../../src/api/metrics-text.ts";

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

describe("metrics text", () => {
  it("writes counters and gauges with every character escaped", () => {
    const odd = 'quote " backslash \\ newline \n end';
    const families = parse(
      writeMetrics([
        {
          name: "a_total",
          help: "first\nline \\ more",
          type: "counter",
          samples: [{ value: 1 }, { labels: { path: odd, x: "é" }, value: 2.5 }],
        },
        {
          name: "b",
          help: "b",
          type: "gauge",
          samples: [{ value: Number.POSITIVE_INFINITY }, { labels: { i: "1" }, value: Number.NaN }, { labels: { i: "2" }, value: 1e21 }],
        },
        { name: "none", help: "no values", type: "gauge", samples: [] },
      ]),
    );
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

  it("writes histograms with cumulative buckets up to +Inf", () => {
    const text = writeMetrics([
      {
        name: "h_seconds",
        help: "h",
        type: "histogram",
        samples: [{ labels: { endpoint: "x" }, bounds: [0.1, 1], counts: Float64Array.of(2, 3, 1), sum: 4.5 }],
      },
    ]);
    expect(parse(text).get("h_seconds")?.samples).toEqual([
      { name: "h_seconds_bucket", labels: { endpoint: "x", le: "0.1" }, value: 2 },
      { name: "h_seconds_bucket", labels: { endpoint: "x", le: "1" }, value: 5 },
      { name: "h_seconds_bucket", labels: { endpoint: "x", le: "+Inf" }, value: 6 },
      { name: "h_seconds_sum", labels: { endpoint: "x" }, value: 4.5 },
      { name: "h_seconds_count", labels: { endpoint: "x" }, value: 6 },
    ]);
  });

  it("refuses names that the format does not take", () => {
    const family = (name: string, label: string) => () =>
      writeMetrics([{ name, help: "", type: "gauge", samples: [{ labels: { [label]: "" }, value: 0 }] }]);
    expect(family("9a", "x")).toThrow(RangeError);
    expect(family("a", "x-y")).toThrow(RangeError);
    expect(family("a", "__x")).toThrow(RangeError);
    expect(() => writeMetrics([{ name: "h", help: "", type: "histogram", samples: [{ bounds: [1], counts: [1], sum: 0 }] }])).toThrow(
      RangeError,
    );
  });
});
