// The parts of a projection by themselves: cycles, and the gates that tell a fill from what only looks like one.
import { describe, expect, it } from "vitest";
import { findCycle } from "../../../../src/domain/saturation/cycle.ts";
import { type ProjectionResult, project } from "../../../../src/domain/saturation/projection.ts";
import { SaturationHistory } from "../../../../src/domain/saturation/saturation-history.ts";
import { generator } from "../../../support/generator.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 5);

function projected(minutes: number, valueAt: (minute: number) => number, limit = 100): ProjectionResult {
  const history = new SaturationHistory();
  for (let minute = 0; minute < minutes; minute++) history.observe(START + minute * MINUTE, valueAt(minute));
  return project(history, START + (minutes - 1) * MINUTE, limit, false);
}

function gate({ gates }: ProjectionResult, name: string) {
  return gates.find((one) => one.name === name);
}

function failed({ gates }: ProjectionResult): string | undefined {
  return gates.find((one) => !one.passed)?.name;
}

describe("cycle", () => {
  const slots = Float64Array.from({ length: 144 }, (_, i) => 5 * i - 720);
  it.each([240, 130, 61.3])("a wave of %d minutes is found to a fiftieth", (period) => {
    const random = generator(1);
    const cycle = findCycle(
      slots,
      slots.map((t) => 2 * Math.sin((2 * Math.PI * t) / period) + 0.5 * random.normal()),
    );
    expect(Math.abs((cycle?.periodMinutes ?? 0) / period - 1)).toBeLessThan(0.02);
    expect(cycle?.explained).toBeGreaterThan(0.8);
  });
  it("is not seen in noise, white or slow", () => {
    let found = 0;
    for (let seed = 0; seed < 100; seed++) {
      const random = generator(seed);
      let slow = 0;
      const white = slots.map(() => random.normal());
      const correlated = slots.map(() => {
        slow = 0.6 * slow + random.normal();
        return slow;
      });
      for (const noise of [white, correlated]) if (findCycle(slots, noise) !== null) found++;
    }
    expect(found).toBeLessThanOrEqual(4);
  });
  it("on a fill moves the end to where the wave touches the limit", () => {
    for (let phase = 0; phase < 6; phase++) {
      const model = (t: number): number => 40 + 0.05 * t + 4 * Math.sin((2 * Math.PI * t) / 200 + phase);
      const random = generator(phase);
      const { projection } = projected(780, (t) => model(t) + 0.3 * random.normal());
      let truth = 780;
      while (model(truth) < 100) truth++;
      expect(Math.abs((projection?.minutes ?? 0) - (truth - 779)), `phase ${phase}`).toBeLessThan(30);
    }
  });
});

describe("gates of a projection", () => {
  it("half an hour of 30 values: just below, at", () => {
    expect(failed(projected(29, (t) => 50 + t))).toBe("minimum_points");
    expect(failed(projected(30, (t) => 50 + t))).toBe("minimum_span_minutes");
    expect(failed(projected(31, (t) => 50 + t)) ?? "none").not.toMatch(/^minimum/);
  });
  it("silence of 15 minutes", () => {
    const history = new SaturationHistory();
    for (let minute = 0; minute < 780; minute++) history.observe(START + minute * MINUTE, 30 + minute / 15);
    const last = START + 779 * MINUTE + 30_000;
    expect(project(history, last + 15 * MINUTE, 100, false).gates.find(({ name }) => name === "silence_minutes")).toMatchObject({
      passed: true,
    });
    expect(failed(project(history, last + 15 * MINUTE + 1, 100, false))).toBe("silence_minutes");
  });
  it("new territory begins 8 % of the way beyond what was seen before the last six hours", () => {
    // 60 until six hours ago, then up: the border is at 60 + 0.08 * 40 = 63.2.
    const ending = (level: number) => projected(780, (t) => (t < 425 ? 60 : 60 + ((level - 60) * (t - 425)) / 347));
    expect(gate(ending(63), "new_territory")).toMatchObject({ passed: false });
    expect(gate(ending(63), "new_territory")?.limit).toBeCloseTo(63.2, 1);
    expect(gate(ending(63.6), "new_territory")).toMatchObject({ passed: true });
  });
  it("a climb of the last 90 minutes has to go a quarter of the way", () => {
    const random = generator(2);
    const leak = (t: number): number => 60 + Math.max(0, t - 700) / 4 + 0.2 * random.normal();
    const early = projected(735, leak);
    expect(gate(early, "curve_in_new_territory")).toMatchObject({ passed: false });
    expect(gate(early, "curve_in_new_territory")?.limit).toBeCloseTo(60 + 0.25 * 40, 0);
    expect(projected(765, leak).projection?.basis).toBe("short");
  });
  it("a step is better told by two levels than by a line, a climb is not", () => {
    const random = generator(3);
    const step = projected(780, (t) => (t < 740 ? 40 : 75) + 0.5 * random.normal());
    expect(gate(step, "line_against_step")).toMatchObject({ passed: false });
    const climb = projected(780, (t) => 40 + Math.max(0, t - 720) * 0.6 + 0.5 * random.normal());
    expect(gate(climb, "line_against_step")).toMatchObject({ passed: true });
    expect(climb.projection).not.toBeNull();
  });
  it("a fill that levels off is bent, and its line is not projected", () => {
    const random = generator(4);
    const result = projected(780, (t) => 92 - 60 * Math.exp(-t / 400) + 0.2 * random.normal());
    expect(result.projection).toBeNull();
  });
  it("an accelerating fill is projected along its parabola", () => {
    const random = generator(5);
    const { projection } = projected(780, (t) => 30 + 70 * (t / 980) ** 2 + 0.3 * random.normal());
    expect(projection).toMatchObject({ basis: "long", shape: "parabola" });
    expect(Math.abs((projection?.minutes ?? 0) - 201)).toBeLessThan(10);
  });
});
