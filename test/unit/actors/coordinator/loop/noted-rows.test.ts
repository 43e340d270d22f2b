// Work of the coordinator's own ends the thread over a row that has no form this program knows; everything else goes on.
import { afterEach, describe, expect, it } from "vitest";
import { endOverRow } from "../../../../../src/actors/coordinator/loop/noted-rows.ts";
import { answerFault, type Fault, failedPart, type Home, reportFaults, task } from "../../../../../src/core/faults/guard.ts";
import { UnknownRowError } from "../../../../../src/modules/state/stored-json.ts";

const QUERY: Home = { where: "request", name: "a query" };
const faults: Fault[] = [];
let takeAway = (): void => undefined;
afterEach(() => {
  takeAway();
  faults.length = 0;
});

function answered(home: Home, error: Error): Error | undefined {
  takeAway = reportFaults(endOverRow((fault) => faults.push(fault)));
  try {
    answerFault(home, error);
    return undefined;
  } catch (thrown) {
    return thrown as Error;
  }
}

describe("a row without a known form", () => {
  it("goes past the guard of a task as the error that it was, with the name of the task", () => {
    const error = new UnknownRowError("slo_records", "it is no JSON");
    const thrown = answered(task("a cycle of the Watchdog"), error);
    expect(thrown).toBe(error);
    expect(failedPart(error)).toBe("a cycle of the Watchdog");
    expect(faults).toEqual([]);
  });

  it("is a fault of the query that met it", () => {
    const error = new UnknownRowError("slo_records", "it is no JSON");
    expect(answered(QUERY, error)).toBeUndefined();
    expect(faults).toEqual([{ where: "request", name: "a query", error }]);
  });
});

describe("any other defect of a task", () => {
  it("is a fault, and the task goes on", () => {
    const error = new TypeError("no such member");
    expect(answered(task("a cycle of the Watchdog"), error)).toBeUndefined();
    expect(faults).toEqual([{ where: "task", name: "a cycle of the Watchdog", error }]);
  });
});
