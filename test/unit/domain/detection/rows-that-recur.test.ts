// Values in a row that say together what none of them does, of a series whose single values go far out: such a row is a departure, and what comes twice at its hour is known.
import { describe, expect, it } from "vitest";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { SURROUNDED_BY_NOTHING } from "../../../../src/domain/detection/pair/pair-surroundings.ts";
import { generator } from "../../../support/generator.ts";

const START = Date.UTC(2026, 0, 5);
const INTERVAL = 5 * 60_000;
const DAY = 288;
const CALM_DAYS = 12;

interface Row {
  readonly day: number;
  readonly at: number;
  readonly values: number;
}

/** Days, of rows of values about twice the level, on which people are told; one value in a hundred goes as far by itself. */
function toldOn(days: number, rows: readonly Row[]): number[] {
  const { uniform } = generator(3);
  const detector = new PairDetector();
  const told = new Set<number>();
  for (let place = 0; place < days * DAY; place++) {
    const day = Math.floor(place / DAY);
    const isFar = uniform() < 1 / 100;
    const noise = uniform() - 0.5;
    const isOfRow = rows.some((row) => day === row.day && place % DAY >= row.at && place % DAY < row.at + row.values);
    const value = isOfRow ? 190 + 20 * noise : isFar ? 200 : 100 + 2 * noise;
    const { reports } = detector.observe(START + place * INTERVAL, value, { ...SURROUNDED_BY_NOTHING, streams: 19 });
    if (reports && day >= CALM_DAYS) told.add(day);
  }
  return [...told];
}

const nightly = (nights: number): Row[] => Array.from({ length: nights }, (_, night) => ({ day: CALM_DAYS + night, at: 100, values: 4 }));

describe("a row of values at the same hour of each day", () => {
  it("is told twice, and known from then on", () => expect(toldOn(24, nightly(12))).toEqual([12, 13]));

  it("is news at another hour, and where it goes on for longer", () => {
    const before = nightly(6);
    expect(toldOn(19, [...before, { day: 18, at: 200, values: 4 }])).toEqual([12, 13, 18]);
    expect(toldOn(19, [...before, { day: 18, at: 100, values: 24 }])).toEqual([12, 13, 18]);
  });
});
