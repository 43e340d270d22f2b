// Pages against labelled incidents, on cases that were counted by hand.
import { describe, expect, it } from "vitest";
import { figuresOf, scorePages } from "../../../../src/domain/backtest/page-score.ts";

describe("the score of pages", () => {
  it("counts a page from three rows before an incident to twelve behind it", () => {
    const incident = [{ from: 100, to: 110 }];
    const found = (row: number) => scorePages([row], incident, 1).found;
    expect([96, 97, 100, 122, 123].map(found)).toEqual([0, 1, 1, 1, 0]);
    expect(scorePages([96, 97, 98, 130], incident, 1)).toMatchObject({ incidents: 1, found: 1, pages: 4, falsePages: 2, delays: [0] });
  });

  it("gives the ratios of all files together", () => {
    const scores = [
      scorePages(
        [105],
        [
          { from: 100, to: 110 },
          { from: 500, to: 500 },
        ],
        2,
      ),
      scorePages([7, 900], [{ from: 4, to: 4 }], 2),
    ];
    expect(figuresOf(scores)).toEqual({
      incidents: 3,
      found: 2,
      pages: 3,
      falsePages: 1,
      days: 4,
      recall: 2 / 3,
      precision: 2 / 3,
      f1: 2 / 3,
      falsePerDay: 0.25,
      delayRows: 4,
    });
  });

  it("is at the bottom for a detector that never pages, and for one that always does", () => {
    const incidents = [{ from: 100, to: 110 }];
    expect(figuresOf([scorePages([], incidents, 1)])).toMatchObject({ f1: 0, recall: 0, precision: null });
    const always = figuresOf([scorePages([...Array(1_000).keys()], incidents, 1)]);
    expect(always.f1).toBeLessThan(0.01);
    expect(figuresOf([scorePages([], [], 0)])).toMatchObject({ recall: null, f1: 0, falsePerDay: 0 });
  });
});
