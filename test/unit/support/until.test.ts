import { describe, expect, it } from "vitest";
import { until } from "../../support/until.ts";

describe("until", () => {
  it("returns the first value that holds", async () => {
    let count = 0;
    expect(
      await until(
        "three looks",
        () => ++count,
        (value) => value === 3,
        { everyMs: 0 },
      ),
    ).toBe(3);
    expect(await until("a value", () => Promise.resolve("there"))).toBe("there");
  });

  it("says what it waited for and what it saw last", async () => {
    const looking = until(
      "the job is done",
      () => ({ state: "running" }),
      ({ state }) => state === "done",
      { patienceMs: 0, everyMs: 0 },
    );
    await expect(looking).rejects.toThrow("the job is done: not within 0 ms; last: { state: 'running' }");
  });

  it("ends at once with what a look throws", async () => {
    const looking = until("never", () => {
      throw new Error("the server ended");
    });
    await expect(looking).rejects.toThrow("the server ended");
  });
});
