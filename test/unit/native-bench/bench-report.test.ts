import { expect, it } from "vitest";
// @ts-expect-error: the benches are JavaScript without declarations
import { judgedLines, missedText, verdict } from "../../../native-bench/report.mjs";

const line = (label: string, value: number, marks: object) => ({ label, values: [value], unit: "x", ...marks });

it("a bar that is missed is counted, a goal alone is none", () => {
  const lines = [
    line("fast", 9, { bar: 6, goal: 8 }),
    line("slow", 5, { bar: 6, goal: 8 }),
    line("heavy", 5, { bar: 6, lowerIsBetter: true }),
    line("wished", 5, { goal: 8 }),
    line("printed", 5, {}),
  ];
  expect(lines.map((each) => verdict(each))).toEqual(["goal met", "**bar missed**", "bar met", "goal missed", ""]);
  const reports = [
    { row: { name: "row" }, result: { lines } },
    { row: { name: "broken" }, fault: "it failed" },
  ];
  expect(judgedLines(reports)).toEqual({ judged: 3, missed: ["row: slow"] });
  expect(missedText(reports)).toBe("1 of 3 bars are missed: row: slow.");
});
