// The detector as it ships on generated series with known ends, and whether the measure itself works.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { generator } from "../support/generator.ts";
import { SHAPES, shapedSeries } from "../support/saturation-shapes.ts";
import { evaluateSaturation, projectedMinutes, saturationLine } from "./saturation.ts";
import { scoreSaturation } from "./saturation-score.ts";

const SEEDS = [101, 202, 303];
/** Evaluations between the first and the last change no projection: a third of them say the same in a third of the time. */
const EVERY_MINUTES = 6;
const series = SHAPES.flatMap((shape) => SEEDS.map((seed) => shapedSeries(shape, seed + SHAPES.indexOf(shape))));

describe("saturation on series with known ends", () => {
  it("reaches its figures", () => {
    const score = scoreSaturation(
      series.map(({ kind, values, etaMinutes }) => ({ truth: etaMinutes, predicted: projectedMinutes(kind, values, EVERY_MINUTES) })),
    );
    expect(score.falseProjections).toBe(0);
    expect(score.tierAccuracy).toBeGreaterThanOrEqual(0.95);
    expect(score.withinFifth).toBeGreaterThanOrEqual(0.9);
    expect(saturationLine("shipped", score)).toMatch(
      /^saturation, shipped, 36 series: tier accuracy (1\.000|0\.9\d\d) \(bar 0\.95\), false projections 0/,
    );
  });
  it("reads a folder of them, and says where there is none", () => {
    const folder = mkdtempSync(join(tmpdir(), "saturation-"));
    try {
      expect(evaluateSaturation(folder)).toBeUndefined();
      const saturation: Record<string, unknown> = {};
      for (const { shape, kind, values, etaMinutes } of series.filter((one) => one.shape === "drain" || one.shape === "flat").slice(0, 4)) {
        const name = `${shape}-${Object.keys(saturation).length}`;
        saturation[name] = { shape, kind, limit: kind === "drain" ? 0 : 100, eta_minutes: etaMinutes };
        const rows = values.map((value, minute) => `${minute},${value.toFixed(4)}\n`).join("");
        writeFileSync(join(folder, `${name}.csv.gz`), gzipSync(`minute,value\n${rows}`));
      }
      writeFileSync(join(folder, "truth.json"), JSON.stringify({ saturation }));
      expect(evaluateSaturation(folder)).toEqual({ series: 4, tierAccuracy: 1, falseProjections: 0, missed: 0, withinFifth: 1 });
      writeFileSync(join(folder, "truth.json"), "{}");
      expect(evaluateSaturation(folder)).toBeUndefined();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
  it("is measured by figures at which guesses score at the bottom", () => {
    const random = generator(5);
    const always = scoreSaturation(series.map(({ etaMinutes }) => ({ truth: etaMinutes, predicted: 30 })));
    const guessed = scoreSaturation(series.map(({ etaMinutes }) => ({ truth: etaMinutes, predicted: Math.exp(7.3 * random.uniform()) })));
    const never = scoreSaturation(series.map(({ etaMinutes }) => ({ truth: etaMinutes, predicted: null })));
    const perfect = scoreSaturation(series.map(({ etaMinutes }) => ({ truth: etaMinutes, predicted: etaMinutes })));
    for (const score of [always, guessed]) {
      expect(score.tierAccuracy).toBeLessThan(0.5);
      expect(score.falseProjections).toBeGreaterThan(10);
      expect(score.withinFifth).toBeLessThan(0.3);
    }
    expect(never).toMatchObject({ falseProjections: 0, withinFifth: 0 });
    expect(never.missed).toBeGreaterThan(15);
    expect(perfect).toMatchObject({ tierAccuracy: 1, falseProjections: 0, missed: 0, withinFifth: 1 });
  });
});
