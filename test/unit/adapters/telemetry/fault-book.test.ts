import { expect, it } from "vitest";
import { FaultBook } from "../../../../src/adapters/telemetry/fault-book.ts";
import { faultReport } from "../../../../src/core/telemetry/fault-report.ts";

function book() {
  const lines: unknown[] = [];
  const clock = { nowMs: 0 };
  const faults = new FaultBook({ monotonicMs: () => clock.nowMs, log: (...line) => lines.push(line) });
  return { lines, clock, faults };
}

const TASK = { where: "task", name: "the heartbeat", stack: "Error: broken" } as const;

it("counts each fault, and logs one of a name in ten seconds with how many were left out", () => {
  const { lines, clock, faults } = book();
  for (let i = 0; i < 5; i++) faults.take(TASK);
  faults.take({ ...TASK, where: "connection", name: "a connection of HTTP" });
  clock.nowMs = 10_000;
  faults.take(TASK);
  expect(lines).toEqual([
    ["error", "the heartbeat failed; it goes on at its next turn", { stack: "Error: broken" }],
    ["error", "a connection of HTTP failed; its connection was closed", { stack: "Error: broken" }],
    ["error", "the heartbeat failed; it goes on at its next turn", { stack: "Error: broken", before: 4 }],
  ]);
  expect(Object.fromEntries(faults.counts)).toEqual({ request: 0, connection: 1, task: 6, child: 0, thread: 0 });
});

it("leaves requests' lines to where they failed, with their id", () => {
  const { lines, faults } = book();
  faults.take({ where: "request", name: "a query", stack: "" });
  expect(lines).toEqual([]);
  expect(faults.counts.get("request")).toBe(1);
});

it("reports what is no error too", () => {
  expect(faultReport({ where: "child", name: "a backup", error: "a text" })).toEqual({
    type: "fault",
    where: "child",
    name: "a backup",
    stack: "a text",
  });
});
