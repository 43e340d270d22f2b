// Twenty failures in a row, a pause, and what ends it.
import { expect, it } from "vitest";
import { FAULT_PAUSE_MS, FAULTS_IN_A_ROW } from "../../../../src/core/config/webhook-limits.ts";
import { FaultPauses } from "../../../../src/domain/webhooks/fault-pauses.ts";

const fail = (pauses: FaultPauses, id: string, times: number, nowMs = 0) =>
  Array.from({ length: times }, () => pauses.failed(id, "it throws", nowMs)).filter((begins) => begins).length;

it("begins with the twentieth failure in a row, lasts five minutes, and is no other's", () => {
  const pauses = new FaultPauses();
  expect(fail(pauses, "a", FAULTS_IN_A_ROW - 1)).toBe(0);
  pauses.forget("a");
  expect(fail(pauses, "a", FAULTS_IN_A_ROW - 1)).toBe(0);
  expect(fail(pauses, "a", 2)).toBe(1);
  expect(pauses.pause("a", 1)).toEqual({ untilMs: FAULT_PAUSE_MS, failures: 21, error: "it throws" });
  expect([pauses.pause("b", 1), pauses.count(1)]).toEqual([null, 1]);
  expect([pauses.pause("a", FAULT_PAUSE_MS), pauses.count(FAULT_PAUSE_MS)]).toEqual([null, 0]);
  expect(pauses.failed("a", "it throws", FAULT_PAUSE_MS)).toBe(true);
  pauses.forget("a");
  expect(pauses.pause("a", FAULT_PAUSE_MS)).toBeNull();
});

it("is over where the clock was put back", () => {
  const pauses = new FaultPauses();
  fail(pauses, "a", FAULTS_IN_A_ROW, 10 * FAULT_PAUSE_MS);
  expect(pauses.pause("a", FAULT_PAUSE_MS)).toBeNull();
});
