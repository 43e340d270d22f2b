import { describe, expect, it } from "vitest";
// @ts-expect-error: scripts are JavaScript without declarations
import { listedFailures, raceName, withRaces } from "../../../scripts/test-races.mjs";

const race = { where: "test/conformance/lists.test.ts:40", name: "lists > pages hold still" };
const name = "test/conformance/lists.test.ts  lists > pages hold still";

describe("the list of races", () => {
  it("names a test without its line, so that an edit above it changes nothing", () => {
    expect(raceName(race)).toBe(name);
    expect(raceName({ ...race, where: "test/conformance/lists.test.ts:99" })).toBe(name);
  });

  it("has each race once, in order", () => {
    expect(withRaces([name], [race, { where: "test/conformance/access.test.ts:1", name: "a" }])).toEqual([
      "test/conformance/access.test.ts  a",
      name,
    ]);
  });

  it("fails the next run of what it names, passed or not, and no other", () => {
    const passed = { ...race, state: "passed" };
    const other = { where: "test/conformance/lists.test.ts:50", name: "lists > another", state: "passed" };
    expect(listedFailures([name], [passed, passed, other])).toEqual([expect.stringContaining(`${name}: passed only when run again`)]);
    expect(listedFailures([name], [other])).toEqual([]);
    expect(listedFailures([], [passed])).toEqual([]);
  });
});
