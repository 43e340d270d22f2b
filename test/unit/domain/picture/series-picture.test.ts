import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COLOURS, drawSeries, type PicturePoint } from "../../../../src/domain/picture/series-picture.ts";

const START_MS = Date.parse("2026-01-31T12:00:00Z");
const HOUR_MS = 3_600_000;
const [BAND, LINE, MARK] = [2, 3, 4];

function picture(points: readonly PicturePoint[], marks: ReadonlyArray<{ atMs: number; value: number | null }> = []) {
  return drawSeries({ fromMs: START_MS, toMs: START_MS + HOUR_MS, points, marks });
}

function point(minute: number, value: number | null, lower: number | null = null, upper: number | null = null): PicturePoint {
  return { atMs: START_MS + minute * 60_000, value, lower, upper };
}

/** Rows that hold a colour in the columns of a part of the time. */
function rowsOf({ dots, width, height }: ReturnType<typeof picture>, colour: number, fromX: number, toX: number): number[] {
  return Array.from({ length: height }, (_, y) => y).filter((y) => dots.subarray(y * width + fromX, y * width + toX).includes(colour));
}

describe("the picture of a series", () => {
  const points = Array.from({ length: 60 }, (_, minute) => point(minute, minute < 40 ? 100 : 400, 80, 120));

  it("has the line above its band once the series has left it", () => {
    const drawn = picture(points);
    const inside = rowsOf(drawn, LINE, 100, 400);
    const above = rowsOf(drawn, LINE, 500, 600);
    const band = rowsOf(drawn, BAND, 500, 600);
    expect(Math.max(...above)).toBeLessThan(Math.min(...band));
    expect(Math.min(...inside)).toBeGreaterThan(Math.max(...above));
  });

  it("has marks of what was found, and no other colours than it names", () => {
    expect(rowsOf(picture(points), MARK, 0, 640)).toEqual([]);
    const drawn = picture(points, [{ atMs: START_MS + 45 * 60_000, value: 400 }]);
    expect(rowsOf(drawn, MARK, 0, 640).length).toBeGreaterThan(4);
    expect(drawn.dots.every((colour) => colour < COLOURS.length)).toBe(true);
  });

  it("leaves a gap where nothing came", () => {
    const drawn = picture(points.filter((_, minute) => minute < 15 || minute > 40));
    expect(rowsOf(drawn, LINE, 230, 420)).toEqual([]);
  });

  it("is drawn of values whose difference is lost in rounding, or is no number", () => {
    const odd = [
      [1e300, 1e300 * (1 + 2 ** -52)],
      [1e17, 1e17 + 16],
      [5e-324, 1e-323],
      [-Number.MAX_VALUE, Number.MAX_VALUE],
      [0, 5e-324],
      [1, 1 + 2 ** -52],
    ];
    for (const [one = 0, other = 0] of odd) {
      const drawn = picture([point(0, one, one, other), point(30, other, one, other), point(50, one)], [{ atMs: START_MS, value: other }]);
      expect(rowsOf(drawn, LINE, 0, 640).length, `${one} and ${other}`).toBeGreaterThan(0);
    }
  });

  it("is drawn of points at any time", () => {
    const times = [Number.MIN_SAFE_INTEGER, 0, START_MS, START_MS + 1, 8.64e15];
    const drawn = picture(times.map((atMs) => ({ atMs, value: 1, lower: 0, upper: 2 })));
    expect(drawn.dots.length).toBe(640 * 240);
  });

  it("is drawn of any values, and of none", () => {
    const value = fc.option(fc.double({ noNaN: true }));
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value, value), { maxLength: 20 }), (rows) => {
        const drawn = picture(rows.map(([v, lower, upper], minute) => point(minute, v, lower, upper)));
        expect(drawn.dots.length).toBe(640 * 240);
      }),
    );
  });
});
