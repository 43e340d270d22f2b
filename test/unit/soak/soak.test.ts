// The parts of `make soak` that decide or draw; the run itself is a command of twenty minutes.
import { uncompressSync } from "snappy";
import { describe, expect, it } from "vitest";
import { checkFlatness, growth } from "../../soak/flatness.ts";
import type { SoakSample } from "../../soak/process-sampler.ts";
import { RemoteWriteFeed } from "../../soak/remote-write-feed.ts";
import { drawPanels } from "../../soak/soak-plot.ts";
import { judgeSoak, type SoakRun } from "../../soak/soak-report.ts";
import { generator } from "../../support/generator.ts";
import { decodeBody } from "../../support/remote-write-body.ts";

const seconds = Array.from({ length: 1200 }, (_, i) => i + 1);
const noise = generator(3);
const flat = seconds.map((second) => 200 + 3 * noise.normal() + (second % 97 === 0 ? 80 : 0));

describe("flatness", () => {
  it("is not moved by noise and single peaks", () => {
    expect(Math.abs(growth(seconds, flat))).toBeLessThan(1);
    expect(checkFlatness(seconds, { what: "memory", unit: "MiB", values: flat, bound: () => 2, why: "" })).toMatchObject({ holds: true });
  });

  it("sees a leak under noise, as its growth over the second half", () => {
    const leaking = flat.map((value, i) => value + i * 0.05);
    const check = checkFlatness(seconds, { what: "memory", unit: "MiB", values: leaking, bound: (median) => 0.05 * median, why: "" });
    expect(check.growth).toBeGreaterThan(28);
    expect(check.growth).toBeLessThan(32);
    expect(check.holds).toBe(false);
  });

  it("leaves out what was not observed", () => {
    expect(growth([1, 2, 3, 4], [Number.NaN, 1, 2, 3])).toBe(3);
    expect(growth([1, 2, 3], [Number.NaN, Number.NaN, 1])).toBeNaN();
  });
});

function runOf(change: (second: number) => Partial<SoakSample>, counted = { accepted: 10, rejected: 1, anomalies: 1 }): SoakRun {
  const still = {
    residentMib: 300,
    anonymousMib: 250,
    fileMib: 50,
    handles: 58,
    threads: 13,
    cores: 0.4,
    dataMib: 100,
    streams: 1000,
    writeP50Ms: 2,
    writeP99Ms: 9,
    queryP99Ms: 8,
    detectionP50Ms: 5,
    detectionP99Ms: 10,
    detections: 5,
  };
  const samples = seconds.map((second) => ({ ...still, seconds: second, ...change(second) }));
  const tally = {
    sent: 20,
    acknowledged: 20,
    accepted: 10,
    refused: 1,
    overloaded: 0,
    withheld: 0,
    wrong: new Map<string, number>(),
    eventBytes: 0,
    slowClosed: 0,
  };
  return { seed: 1, minutes: 20, samples, tally, counted };
}

describe("the verdict", () => {
  const cases: Array<[string, SoakRun, boolean]> = [
    ["passes what is flat and counted", runOf(() => ({})), true],
    ["fails a memory leak", runOf((second) => ({ anonymousMib: 250 + second * 0.05 })), false],
    ["allows new streams their memory", runOf((second) => ({ anonymousMib: 250 + second * 0.05, streams: second * 20 })), true],
    ["fails handles that are lost", runOf((second) => ({ handles: 58 + Math.floor(second / 60) })), false],
    ["fails latency that creeps up", runOf((second) => ({ detectionP99Ms: 10 + second / 50 })), false],
    ["fails a record that was acknowledged and not counted", runOf(() => ({}), { accepted: 9, rejected: 1, anomalies: 1 }), false],
  ];
  it.each(cases)("%s", (_, run, passed) => expect(judgeSoak(run).passed).toBe(passed));

  it("does not judge the curves of a short run", () => {
    const run = runOf((second) => ({ handles: second }));
    expect(judgeSoak({ ...run, samples: run.samples.slice(0, 60) })).toMatchObject({ isJudged: false, passed: true });
  });
});

describe("the plot", () => {
  it("draws every curve inside its panel, with ticks, units and legend", () => {
    const values = seconds.map((second) => (second === 5 ? Number.NaN : second));
    const picture = drawPanels("A <title>", "below", seconds, [
      { title: "Memory", unit: "MiB", curves: [{ label: "resident & more", values }] },
    ]);
    expect(picture).toContain("A &lt;title>");
    expect(picture).toContain("Memory [MiB]");
    expect(picture).toContain("resident &amp; more");
    expect(picture).toContain(">10 min<");
    expect(picture).not.toContain("NaN");
    expect(picture.match(/<path /g)).toHaveLength(1);
    const places = [...(/<path d="([^"]+)"/.exec(picture)?.[1] ?? "").matchAll(/[ML]([\d.]+) ([\d.]+)/g)];
    expect(places).toHaveLength(600);
    for (const [, x, y] of places) expect(Number(x) >= 64 && Number(x) <= 876 && Number(y) >= 80 && Number(y) <= 202).toBe(true);
  });
});

describe("the remote-write feed", () => {
  it("writes values and times over those before", () => {
    const labels = [0, 1, 2].map(
      (i) =>
        [
          ["__name__", "up"],
          ["instance", `host-${i}`],
        ] as const,
    );
    const feed = new RemoteWriteFeed(labels);
    for (const time of [1_795_220_000_000, 1_795_220_001_000]) {
      const body = uncompressSync(feed.at(time, (i) => i * 1.5 - 1)) as Buffer;
      const expected = labels.map((each, i) => ({ labels: each, samples: [{ value: i * 1.5 - 1, time }] }));
      expect(decodeBody(body)).toEqual(expected);
    }
  });
});
