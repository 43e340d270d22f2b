// Causes in systems that are made to order: names, intervals, depth, noise and the order of sending differ from seed to seed.
import { describe, expect, it } from "vitest";
import { type Analysis, analyse } from "../../../../src/domain/rca/analysis.ts";
import { generatedIncident, type IncidentShape } from "../../../support/generated-incidents.ts";

const SEEDS = Array.from({ length: 40 }, (_, i) => 7_000 + i);

interface Judged {
  readonly analysis: Analysis;
  readonly isRight: boolean;
}

function judged(shape: Omit<IncidentShape, "seed">): Judged[] {
  return SEEDS.map((seed) => {
    const { evidence, cause } = generatedIncident({ ...shape, seed });
    const analysis = analyse(evidence);
    return { analysis, isRight: analysis.candidates[0]?.serviceId === cause };
  });
}

const shareOf = (all: readonly Judged[], isSo: (one: Judged) => boolean) => all.filter(isSo).length / all.length;
const isFound = ({ analysis, isRight }: Judged) => analysis.enough && isRight;

describe("the cause of a generated incident", () => {
  it("is found with minutes of history as with an hour of it, with calls and without", () => {
    for (const historyMinutes of [6, 10, 60])
      for (const hasCalls of [true, false]) {
        const all = judged({ historyMinutes, hasCalls, hasFault: true, hasResources: true });
        expect(shareOf(all, isFound), `${historyMinutes} minutes, calls ${hasCalls}`).toBeGreaterThan(0.8);
      }
  });

  it("is not made up: no fault, no cause, however short the history", () => {
    for (const historyMinutes of [3, 6, 10, 60])
      for (const hasResources of [true, false]) {
        const all = judged({ historyMinutes, hasCalls: true, hasFault: false, hasResources });
        expect(
          shareOf(all, ({ analysis }) => !analysis.enough),
          `${historyMinutes} minutes`,
        ).toBeGreaterThan(0.85);
      }
  });

  it("is said where nothing but how long requests take is sent and one service is far ahead, less surely", () => {
    const symptoms = judged({ historyMinutes: 10, hasCalls: true, hasFault: true, hasResources: false });
    const said = symptoms.filter(({ analysis }) => analysis.enough);
    expect(said.length).toBeGreaterThan(SEEDS.length / 2);
    expect(shareOf(said, ({ isRight }) => isRight)).toBeGreaterThan(0.85);
    expect(Math.max(...said.map(({ analysis }) => analysis.confidence))).toBeLessThan(0.75);
  });

  it("is as sure as it is right: nine of ten of those that are said with .9", () => {
    const all = [3, 6, 10, 60].flatMap((historyMinutes) => judged({ historyMinutes, hasCalls: true, hasFault: true, hasResources: true }));
    const sure = all.filter(({ analysis }) => analysis.enough && analysis.confidence >= 0.9);
    expect(sure.length).toBeGreaterThan(20);
    expect(shareOf(sure, ({ isRight }) => isRight)).toBeGreaterThanOrEqual(0.9);
  });
});
