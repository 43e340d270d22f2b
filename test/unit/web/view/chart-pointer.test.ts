import { expect, it } from "vitest";
import { changeTexts, timeScale } from "../../../../src/web/view/chart-columns.ts";
import { pointerText } from "../../../../src/web/view/chart-pointer.ts";
import { isLate, openText } from "../../../../src/web/view/open-text.ts";

const AT = Date.UTC(2026, 0, 31, 12);
const point = (atMs: number, value: number | null, bounds = true) => ({
  ...{ atMs, value, expected: bounds ? 100 : null },
  ...{ lower: bounds ? 90 : null, upper: bounds ? 110 : null },
});

it("B2: the value at the pointer has its time, its unit and what was ordinary then", () => {
  const points = [point(AT, 104.5), point(AT + 60_000, 400, false), point(AT + 120_000, null)];
  expect(pointerText(points, AT + 10, "ms", "UTC")).toBe("2026-01-31 12:00:00: 104.5 ms, ordinary 90 to 110");
  expect(pointerText(points, AT + 61_000, "", "Europe/Berlin")).toBe("2026-01-31 13:01:00: 400");
  expect(pointerText(points, AT + 120_000, "ms", "UTC")).toBe("2026-01-31 12:02:00: expected 100 ms, ordinary 90 to 110");
  expect([pointerText(points, null, "", "UTC"), pointerText([], AT, "", "UTC")]).toEqual(["", ""]);
});

it("B3: the time axis is the range that was asked for, of a young series and of one that stopped", () => {
  const sixHours = [AT - 6 * 3_600_000, AT] as const;
  expect(timeScale(sixHours)).toEqual({ x: { range: [AT / 1000 - 21_600, AT / 1000] } });
  expect(timeScale(undefined)).toEqual({});
});

it("B9: an alert and its anomaly were open for one time, however late their data came", () => {
  const [startedAt, foundAt, resolvedAt] = ["2026-01-31T11:42:00.000Z", "2026-01-31T12:00:00.000Z", "2026-01-31T11:43:00.000Z"];
  expect(openText({ startedAt, resolvedAt }, AT + 3_600_000)).toBe("was open for 1 min");
  expect(openText({ startedAt: foundAt, resolvedAt: null }, AT + 120_000)).toBe("open for 2 min");
  expect([isLate(startedAt, foundAt), isLate("2026-01-31T11:59:50.000Z", foundAt)]).toEqual([true, false]);
});

it("a chart says of each mark of a change what it is: how an alert has ended", () => {
  const ended = { atMs: AT, value: null, kind: "change", text: "new level: from 100 to 400" } as const;
  const change = { atMs: AT, value: null, kind: "change" } as const;
  expect(changeTexts([ended, ended, { atMs: AT, value: 1, kind: "anomaly" }, change])).toEqual(["new level: from 100 to 400", "change"]);
  expect(changeTexts([])).toEqual([]);
});
