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

  it("is drawn of any values, and of none", () => {
    const value = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 }));
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value, value), { maxLength: 20 }), (rows) => {
        const drawn = picture(rows.map(([v, lower, upper], minute) => point(minute, v, lower, upper)));
        expect(drawn.dots.length).toBe(640 * 240);
      }),
    );
  });
});
